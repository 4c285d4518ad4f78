import Backplane
import CBackplane
import Synchronization

/// The text of one side's contract layout, which is requested lazily.
package final class LayoutText: Sendable {
    private let ask: @Sendable () -> String?
    private let answer = Mutex<String??>(nil)

    package init(_ ask: @escaping @Sendable () -> String?) { self.ask = ask }

    /// Returns the text of a ``ContractLayout``; `nil` if the side has none.
    ///
    /// The first call takes tens of microseconds per type.
    package func read() -> String? {
        answer.withLock { answer in
            if let answer { return answer }
            let text = ask()
            answer = .some(text)
            return text
        }
    }
}

extension LayoutText {
    /// Creates the text provided by the other side of the boundary; returns `nil` if it has no native lane.
    convenience init(_ source: (layout: bp_layout, type: UnsafeMutableRawPointer)?) {
        let type = ForeignPointer(raw: source?.type), layout = source?.layout
        self.init { type.raw.flatMap { layout?($0).text } }
    }
}
