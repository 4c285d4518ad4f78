import Backplane
import BackplaneNetwork
import Testing

/// The pieces of a body between a sender and a reader.
@Suite(.timeLimit(.minutes(1)))
struct PieceChannelTests {
    private var machine = PieceMachine<String, String>()

    /// The answers of an outcome in words: that of the reader, and that of the sender.
    private func words(_ outcome: PieceMachine<String, String>.Outcome) -> [String] {
        var words: [String] = []
        if let (reader, piece) = outcome.answered {
            switch piece {
            case .success(let bytes?): words.append("\(reader): \(bytes)")
            case .success(nil): words.append("\(reader): end")
            case .failure(let error): words.append("\(reader): \((error as? BackplaneError)?.message ?? "\(error)")")
            }
        }
        if let (sender, error) = outcome.told { words.append("\(sender): \(error == nil ? "taken" : "dropped")") }
        return words
    }

    @Test mutating func `a piece is read in parts, and taken with the last one`() throws {
        #expect(words(try machine.send([1, 2, 3], "sender")) == [])
        #expect(throws: BackplaneError.self) { try machine.send([4], "second") }
        #expect(words(try machine.read(upTo: 2, "first")) == ["first: [1, 2]"])
        #expect(throws: BackplaneError.self) { try machine.send(nil, "second") }
        #expect(words(try machine.read(upTo: 2, "last")) == ["last: [3]", "sender: taken"])
    }

    @Test mutating func `a read waits for a piece, one at a time`() throws {
        #expect(words(try machine.read(upTo: 9, "reader")) == [] && machine.isBeingRead)
        #expect(throws: BackplaneError.self) { try machine.read(upTo: 9, "second") }
        #expect(words(try machine.send([1], "sender")) == ["reader: [1]", "sender: taken"])
        #expect(!machine.isBeingRead)
    }

    @Test mutating func `the end is told to every read, and does not wait to be read`() throws {
        #expect(words(try machine.send(nil, "sender")) == ["sender: taken"])
        for _ in 0..<2 { #expect(words(try machine.read(upTo: 1, "reader")) == ["reader: end"]) }
        #expect(throws: BackplaneError.bodyUnknown) { try machine.send([1], "late") }
        #expect(words(machine.fail(CancellationError())) == [], "it has ended already")
    }

    @Test mutating func `an error answers both, and drops what was not read`() throws {
        let error = BackplaneError(.networkFailed, "gone")
        _ = try machine.send([1], "sender")
        #expect(words(machine.fail(error)) == ["sender: dropped"])
        #expect(words(try machine.read(upTo: 1, "reader")) == ["reader: gone"])
        machine = PieceMachine()
        _ = try machine.read(upTo: 1, "reader")
        #expect(words(machine.fail(error)) == ["reader: gone"])
    }

    @Test func `a channel pulls chunks of a stream when it is read, and not before`() async throws {
        let channel = PieceChannel(HTTPBodyStream([1, 2, 3]))
        #expect(!channel.isBeingRead && !channel.hasEnded)
        #expect(try await channel.next() == [1, 2, 3])
        #expect(try await channel.next() == nil)
        #expect(channel.hasEnded && channel.failure == nil)
    }

    @Test func `the cancellation of a reader's task ends the body`() async {
        let channel = PieceChannel(), reader = Task { try await channel.next() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(channel.failure is CancellationError)
    }
}
