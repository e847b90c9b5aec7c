import CRetintLibrary
import Foundation
import Retint
import RetintCLI
import RetintTensorFiles

// The functions of retint.h, which describes them.

@_cdecl("retint_version")
public func version() -> UnsafePointer<CChar>? { versionText.pointer }

/// A text that lives as long as the process.
private struct ConstantText: @unchecked Sendable {
    let pointer: UnsafePointer<CChar>?

    init(_ text: String) { pointer = strdup(text).map { UnsafePointer($0) } }
}

private let versionText = ConstantText(retintVersion)

@_cdecl("retint_main")
public func programMain() -> Never { MainActor.assumeIsolated { runRetintAndExit() } }

@_cdecl("retint_command")
public func command(_ arguments: UnsafePointer<CChar>?) -> Int64 {
    let list = decode([String].self, arguments)
    return Call.start { call in
        guard let list else {
            return .failed(status: 64, "the arguments are not a JSON list of texts")
        }
        let failure = await call.output.run(list)
        var ending = failure.map { Call.Ending.failed($0) } ?? Call.Ending()
        // A comparison that fails has results, too.
        ending.keys["output"] = call.output.results
        return ending
    }
}

@_cdecl("retint_write")
public func write(
    _ path: UnsafePointer<CChar>?, _ tensors: UnsafePointer<retint_tensor>?, _ count: Int32
) -> Int64 {
    let path = path.flatMap { String(validatingCString: $0) } ?? ""
    let values = Result { () throws(ArgumentError) in try copied(tensors, count) }
    return Call.start { _ in
        do {
            try writeHDF5(try values.get(), to: path)
            return Call.Ending()
        } catch {
            return .failed(of: error)
        }
    }
}

@_cdecl("retint_wait")
public func wait(_ number: Int64, _ milliseconds: Int32) -> Int32 {
    guard !Process.isForked else { return number == Process.refused ? 1 : -1 }
    guard let call = Registry[number] else { return -1 }
    return call.wait(milliseconds: milliseconds) ? 1 : 0
}

@_cdecl("retint_cancel")
public func cancel(_ number: Int64) {
    if !Process.isForked { Registry[number]?.cancel() }
}

@_cdecl("retint_messages")
public func messages(_ number: Int64) -> UnsafeMutablePointer<CChar>? {
    guard !Process.isForked, let call = Registry[number] else { return nil }
    return (try? CommandOutput.json(call.output.takeMessages())).flatMap { strdup($0) }
}

@_cdecl("retint_result")
public func result(_ number: Int64) -> UnsafeMutablePointer<CChar>? {
    guard !Process.isForked else { return strdup(Process.refusal.json) }
    return Registry[number]?.ending.flatMap { strdup($0.json) }
}

@_cdecl("retint_output")
public func output(
    _ number: Int64, _ index: Int32, _ target: UnsafeMutablePointer<retint_tensor>?
) -> Int32 {
    guard !Process.isForked, let outputs = Registry[number]?.ending?.outputs, let target,
        outputs.indices.contains(Int(index))
    else { return 0 }
    target.pointee = outputs[Int(index)].tensor
    return 1
}

@_cdecl("retint_release")
public func release(_ number: Int64) {
    if !Process.isForked { Registry.remove(number) }
}

@_cdecl("retint_free")
public func freeText(_ text: UnsafeMutablePointer<CChar>?) { free(text) }

/// Reads what a caller passes as JSON.
///
/// - Returns: nil if it is not JSON of that form.
func decode<Value: Decodable>(_: Value.Type, _ text: UnsafePointer<CChar>?) -> Value? {
    guard let text, let string = String(validatingCString: text) else { return nil }
    return try? JSONDecoder().decode(Value.self, from: Data(string.utf8))
}

extension Call.Ending {
    /// The ending of a call that failed with an error of the library.
    static func failed(of error: any Error) -> Call.Ending {
        failed(CommandFailure(of: error))
    }
}
