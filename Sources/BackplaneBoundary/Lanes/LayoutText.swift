import Backplane
import CBackplane
import Synchronization

/// A contract's layout as somebody says it, asked for when it is first needed.
package final class LayoutText: Sendable {
    private let ask: @Sendable () -> String?
    private let answer = Mutex<String??>(nil)

    package init(_ ask: @escaping @Sendable () -> String?) { self.ask = ask }

    /// The text of ``ContractLayout``; costs tens of microseconds a type the first time. `nil`: it does not say.
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
    /// What the other side of the boundary says; `nil`: it has no native lane.
    convenience init(_ source: (layout: bp_layout, type: UnsafeMutableRawPointer)?) {
        let type = ForeignPointer(raw: source?.type), layout = source?.layout
        self.init { type.raw.flatMap { layout?($0).text } }
    }
}
