import Backplane
import BackplaneHost
import BackplaneTestKit
import Testing

@testable import BackplaneCommand
@testable import BackplaneControl

/// What the commands that follow a host do with what it sends.
@Suite(.timeLimit(.minutes(1)))
struct FollowTests {
    private struct Happenings: ControlMessage {
        static let name = "happenings"
        typealias Answer = ElementCount
    }

    @Test func `an event that this version cannot decode fails the command, and hides no others`() throws {
        let request = ControlRequest(Happenings.self, isLasting: true) { _, _, work throws(BackplaneError) in
            for event in [#""started":{"managers":["M"]}"#, #""moved":{"to":"x"}"#, #""missed":{"count":1}"#] {
                try work.send(element: Array("{\"time\":1,\(event)}".utf8))
            }
            return ElementCount(elements: work.sent)
        }
        let folder = try TestFolder()
        let control = try ControlSocket(
            serving: PluginHost(manifest: ManifestDocument([:])), in: folder.path + "/run", requests: [request])
        defer { control.close() }
        let conversation = HostChoice.Conversation(
            host: RunningHost(socket: control.path, greeting: nil), doing: "waiting")
        var kinds: [HostEvent.Kind] = []
        let code = try conversation.follow(Happenings(), of: HostEvent.self) { event, _ in kinds.append(event.kind) }
        #expect(kinds == [.started(managers: ["M"]), .missed(count: 1)] && code == 1)
    }
}
