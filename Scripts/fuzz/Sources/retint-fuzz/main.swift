import Glibc

// retint-fuzz TARGET [OPTION OR FILE…]   runs libFuzzer with its own options
// retint-fuzz TARGET --seeds FOLDER      writes the inputs to start from
// retint-fuzz --list                     names the targets

let arguments = CommandLine.arguments
if arguments.count == 2, arguments[1] == "--list" {
    for target in fuzzTargets { print(target.name) }
    exit(0)
}
guard arguments.count >= 2, let target = fuzzTargets.first(where: { $0.name == arguments[1] })
else {
    print("usage: retint-fuzz TARGET [libFuzzer's options and files], or retint-fuzz --list")
    exit(64)
}
runningTarget = target
if arguments.count == 4, arguments[2] == "--seeds" {
    try writeSeeds(of: target, to: arguments[3])
    exit(0)
}
exit(runFuzzer([arguments[0]] + arguments.dropFirst(2)))
