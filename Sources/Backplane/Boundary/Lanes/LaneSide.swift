import Synchronization

/// One end of a wire, as far as the lane between the two goes.
package struct LaneSide: Sendable {
    /// What brings it.
    package let origin: LaneOrigin
    package let contract: ContractDescription
    /// How it compiled the contract.
    package let layout: LayoutText

    package init(_ origin: LaneOrigin, _ contract: ContractDescription, _ layout: LayoutText) {
        (self.origin, self.contract, self.layout) = (origin, contract, layout)
    }
}

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

/// A plugin, or the host program, as far as lanes go.
package struct LaneOrigin: Sendable, Hashable {
    /// For messages: "plugin `org.example.clock`".
    package var name: String
    /// The compiler it was built by, in the compiler's words; empty: it does not say.
    package var toolchain: String
    /// 0: it takes no part in the native lane.
    package var revision: UInt32

    package init(name: String, toolchain: String, revision: UInt32) {
        (self.name, self.toolchain, self.revision) = (name, toolchain, revision)
    }
}
