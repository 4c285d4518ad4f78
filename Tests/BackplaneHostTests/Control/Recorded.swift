import Backplane
import Synchronization

/// What came, in its order.
final class Recorded<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    func add(_ element: Element) { elements.withLock { $0.append(element) } }

    var all: [Element] { elements.withLock { $0 } }
}

extension Result where Failure == BackplaneError {
    /// The code of the failure; `nil` for a success.
    var code: BackplaneError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
