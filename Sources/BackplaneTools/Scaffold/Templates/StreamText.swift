extension ManagerLayers {
    /// The source of the contract of a manager that provides a stream.
    var streamContractText: String {
        """
        public import Backplane

        /// The methods of the manager.
        public struct \(contract): Contract {
            public static let version: Version = "1.0.0"
            /// Posts a message and returns its number.
            public let post = AsyncMethod<String, Int>()
            /// Streams the messages after a position, of which the last hundred are kept, followed by each new one.
            public let messages = StreamMethod<\(place), \(message)>()
            public init() {}
        }

        public struct \(message): Codable, Sendable, Hashable {
            /// The number of the message, counted from 1.
            public var number: Int
            public var text: String

            public init(number: Int, text: String) {
                (self.number, self.text) = (number, text)
            }
        }

        /// The position at which a stream of messages begins.
        public struct \(place): Codable, Sendable, Hashable {
            /// The number of the last message that the reader has received; 0 for none.
            public var last: Int

            public init(after last: Int = 0) {
                self.last = last
            }
        }

        // Readers continue where they were when the manager is swapped or restarted.
        extension \(place): Resumable {
            public func resuming(after last: \(message)) -> \(place) { \(place)(after: last.number) }
        }

        """
    }

    /// The source of a manager that provides a stream.
    var streamingManagerText: String {
        """
        import Backplane
        import Synchronization
        \(importsAllContracts)
        /// A manager that streams the posted messages to all readers.
        ///
        /// Its state consists of the retained messages, so that readers miss none during a swap.
        final class \(manager): Manager, StatefulComponent {
            typealias Provides = \(contract)
            struct State: Codable, Sendable {
                var last = 0
                var kept: [\(message)] = []
            }
            private let state = Mutex(State())
            private let readers = Mutex((next: 0, signals: [Int: AsyncStream<Void>.Continuation]()))
        \(wiresText([]))

            func exportState() -> State { state.withLock(\\.self) }
            func importState(_ state: State) { self.state.withLock { $0 = state } }

            static func methods(_ table: inout Methods) {
                table.async(\\.post) { manager, text, _ in manager.post(text) }
                table.stream(\\.messages) { manager, place, messages, _ in
                    var last = place.last
                    for await _ in manager.signals() {
                        for message in manager.messages(after: last) {
                            // Returns when the reader has taken the message.
                            try await messages.send(message)
                            last = message.number
                        }
                    }
                }
            }

            private func post(_ text: String) -> Int {
                let number = state.withLock { state in
                    state.last += 1
                    state.kept = state.kept.suffix(99) + [\(message)(number: state.last, text: text)]
                    return state.last
                }
                for signal in readers.withLock({ Array($0.signals.values) }) { signal.yield() }
                return number
            }

            private func messages(after last: Int) -> [\(message)] {
                state.withLock { state in state.kept.filter { $0.number > last } }
            }

            /// Returns a stream that yields immediately, and again whenever messages have been posted.
            private func signals() -> AsyncStream<Void> {
                let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                let reader = readers.withLock { readers in
                    readers.next += 1
                    readers.signals[readers.next] = signal
                    return readers.next
                }
                signal.onTermination = { [weak self] _ in
                    self?.readers.withLock { readers in readers.signals[reader] = nil }
                }
                signal.yield()
                return signals
            }
        }

        """
    }

    /// Returns tests of a manager that provides a stream.
    func streamTests(_ plugin: String) -> String {
        """
            @Test(arguments: [LaneRule.fastest, .encoded])
            func `a reader gets the messages before it, and those that are posted`(lanes: LaneRule) async throws {
                try await TestHost.run("\(manager)", plugins: [\(plugin).self]\(fakes()), lanes: lanes) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    _ = try await manager.post("one")
                    var messages = manager.messages(\(place)()).makeAsyncIterator()
                    let first = try await messages.next()
                    #expect(first == \(message)(number: 1, text: "one"))
                    let number = try await manager.post("two")
                    let second = try await messages.next()
                    #expect(second == \(message)(number: number, text: "two"))
                }
            }

            @Test func `a reader continues after the last message that it has`() async throws {
                try await TestHost.run("\(manager)", plugins: [\(plugin).self]\(fakes())) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    for text in ["one", "two"] { _ = try await manager.post(text) }
                    let place = \(place)().resuming(after: \(message)(number: 1, text: "one"))
                    for try await message in manager.messages(place) {
                        #expect(message.text == "two")
                        break
                    }
                }
            }
        """
    }
}
