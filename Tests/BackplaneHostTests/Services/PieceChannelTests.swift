import Backplane
import BackplaneNetwork
import Testing

/// The pieces of a body between a sender and a reader.
@Suite(.timeLimit(.minutes(1)))
struct PieceChannelTests {
    private var machine = PieceMachine<String>()

    /// The answer to a read in words.
    private func words(_ answered: PieceMachine<String>.Answered?) -> String? {
        guard let (reader, piece) = answered else { return nil }
        switch piece {
        case .success(let bytes?): return "\(reader): \(bytes)"
        case .success(nil): return "\(reader): end"
        case .failure(let error): return "\(reader): \((error as? BackplaneError)?.message ?? "\(error)")"
        }
    }

    @Test mutating func `a piece is read in parts, before the next one`() throws {
        #expect(words(try machine.send([1, 2, 3])) == nil)
        #expect(throws: BackplaneError.self) { try machine.send([4]) }
        #expect(words(try machine.read(upTo: 2, "first")) == "first: [1, 2]")
        #expect(throws: BackplaneError.self) { try machine.send(nil) }
        #expect(words(try machine.read(upTo: 2, "last")) == "last: [3]")
    }

    @Test mutating func `a read waits for a piece, one at a time`() throws {
        #expect(words(try machine.read(upTo: 9, "reader")) == nil && machine.isBeingRead)
        #expect(throws: BackplaneError.self) { try machine.read(upTo: 9, "second") }
        #expect(words(try machine.send([1])) == "reader: [1]")
        #expect(!machine.isBeingRead)
    }

    @Test mutating func `the end is told to every read, and does not wait to be read`() throws {
        #expect(words(try machine.send(nil)) == nil)
        for _ in 0..<2 { #expect(words(try machine.read(upTo: 1, "reader")) == "reader: end") }
        #expect(throws: BackplaneError.bodyEnded) { try machine.send([1]) }
        #expect(words(machine.fail(CancellationError())) == nil, "it has ended already")
    }

    @Test mutating func `an error answers the read, and drops what was not read`() throws {
        let error = BackplaneError(.networkFailed, "gone")
        _ = try machine.send([1])
        #expect(words(machine.fail(error)) == nil)
        #expect(words(try machine.read(upTo: 1, "reader")) == "reader: gone")
        machine = PieceMachine()
        _ = try machine.read(upTo: 1, "reader")
        #expect(words(machine.fail(error)) == "reader: gone")
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
