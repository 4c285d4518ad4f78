#if Engines
import Foundation
import Glibc

/// The files beside a store that record its state for the next opening.
struct StoreMarks {
    private let open: String
    private let damage: String

    init(_ store: String) { (open, damage) = (store + ".open", store + ".damage") }

    /// A Boolean value that indicates whether the store is open, or was not closed.
    var isOpen: Bool {
        get { access(open, F_OK) == 0 }
        nonmutating set {
            if newValue { Self.write("", to: open) } else { unlink(open) }
        }
    }

    /// The damage that was found while the store was open; `nil` for none.
    var damageFound: String? {
        get { try? String(contentsOfFile: damage, encoding: .utf8) }
        nonmutating set {
            if let newValue { Self.write(newValue, to: damage) } else { unlink(damage) }
        }
    }

    /// Writes a file with mode 0600; a failure is ignored, because the damage is then simply found again.
    private static func write(_ text: String, to path: String) {
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        var text = text
        _ = text.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) }
        close(file)
    }
}
#endif
