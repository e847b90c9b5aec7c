import Foundation
import Synchronization

/// Lets Ctrl-C (SIGINT) and SIGTERM ask a command to end in order. A second one ends it at once.
enum Interruption {
    private static let flag = Atomic<Bool>(false)

    /// Whether someone asked.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    static func install() {
        // The handler may touch nothing that is made at its first use.
        _ = isRequested
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.flag.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }
}
