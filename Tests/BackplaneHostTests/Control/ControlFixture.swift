import Backplane
import BackplaneTestKit
import Glibc
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

/// A host that listens in a folder of its own, and its clients.
final class ControlFixture: Sendable {
    let test: TestHost
    let control: ControlSocket
    var host: PluginHost { test.host }
    var folder: ControlFolder { ControlFolder(test.folder + "/run") }
    var client: ControlClient { ControlClient(control.path) }

    static let managers = #""Trial": {"className": "TrialManager"}"#

    init(
        managers: String = managers, requests: [ControlRequest] = [],
        limits: ControlLimits = ControlLimits(reading: .seconds(600)), stopLimit: Duration = .seconds(60)
    ) throws {
        test = try TestHost(managers: managers, from: .linked, stopLimit: stopLimit)
        control = try ControlSocket(
            serving: test.host, in: test.folder + "/run", requests: requests, limits: limits)
    }

    deinit { control.close() }

    /// Asks on a thread of its own, so that Swift's pool is left to who answers.
    func ask<Message: ControlMessage>(_ message: Message, _ events: Recording<ControlEvent> = Recording()) async
        -> Result<Message.Answer, BackplaneError>
    {
        await onThread { [client] in
            do throws(BackplaneError) {
                return .success(try client.ask(message, report: { events.add($0) }))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Sends bytes as they are and gives what comes back until the host hangs up.
    func exchange(_ bytes: [UInt8], thenShutsDown: Bool = false) async throws -> String {
        let path = control.path
        return try await onThread { () -> Result<String, SystemError> in
            do throws(SystemError) {
                let socket = try LocalSocket(connectingTo: path, within: .seconds(60)),
                    deadline = Deadline.now + .seconds(60)
                do throws(SystemError) { try socket.write(bytes, until: deadline) } catch {
                    if error.number != EPIPE && error.number != ECONNRESET { throw error }
                }
                if thenShutsDown { shutdown(socket.descriptor.number, Int32(SHUT_WR)) }
                return .success(try socket.rest(until: deadline))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Connects and sends bytes, and leaves it at that.
    func connect(_ text: String = "") throws -> LocalSocket {
        let socket = try LocalSocket(connectingTo: control.path, within: .seconds(60))
        if !text.isEmpty { try socket.write(Array(text.utf8), until: .now + .seconds(60)) }
        return socket
    }

    func exchange(_ text: String) async throws -> String { try await exchange(Array(text.utf8)) }

    /// Expects that the host answers as it did before.
    func expectUnharmed(_ location: SourceLocation = #_sourceLocation) async {
        let answer = await answer()
        #expect(throws: Never.self, sourceLocation: location) { try answer.get() }
    }

    /// The answer to a call that always succeeds.
    func answer() async -> Result<CallRequest.Answer, BackplaneError> {
        await ask(CallRequest(manager: "Trial", method: "path", input: nil, timeout: nil))
    }
}

extension LocalSocket {
    /// Everything that comes until the other end hangs up.
    func rest(until deadline: Deadline) throws(SystemError) -> String {
        var bytes: [UInt8] = []
        do throws(SystemError) { while try read(into: &bytes, limit: 4_096, until: deadline) {} } catch {
            if error.number != ECONNRESET { throw error }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Runs what blocks on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        _ = HostThread.tryStart("test") { continuation.resume(returning: body()) }
    }
}
