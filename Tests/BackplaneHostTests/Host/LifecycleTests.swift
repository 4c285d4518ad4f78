import Backplane
import BackplaneTestKit
import Challenge
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// In which order components come and go, by what they write to the log themselves.
@Suite(.timeLimit(.minutes(10)))
struct LifecycleTests {
    private static let managers = """
        "Layered": {"className": "ChallengeManager",
          "dataAccessController": {"className": "ChallengeDataAccess"},
          "communicationController": {"className": "ChallengeCommunication", "services": [
            {"className": "ChallengeService", "propertyName": "secondService", "networkServiceConfiguration": {"NIFServiceName": "Two"}},
            {"className": "ChallengeService", "propertyName": "challengeService", "networkServiceConfiguration": {"NIFServiceName": "One"}}]}}
        """

    @Test(arguments: Origin.allCases)
    func `layers start from the data access controller up to the manager, and stop the other way round`(origin: Origin)
        async throws
    {
        let test = try TestHost(managers: Self.managers, from: origin)
        try await test.host.start()
        let up = ["ChallengeDataAccess", "ChallengeService", "ChallengeService", "ChallengeCommunication", "Layered"]
        #expect(test.log.lines == up.flatMap { ["\($0) init", "\($0) activate"] })

        let manager: Remote<Challenge> = try await test.host.manager("Layered")
        #expect(
            try manager.atStart().services == ["One", "Two"],
            "every collaborator was there when the manager was initialised")
        await test.host.stop()

        #expect(test.log.lines.dropFirst(2 * up.count) == up.reversed().map { "\($0) stop" }[...])
    }

    @Test func `components stop while their libraries still lie in the load folder, which then goes; data stays`()
        async throws
    {
        let folder = try TestFolder()
        let seen = Mutex<[Bool]>([])
        let log = TestLog { record in
            guard record.message == "stop" else { return }
            let isThere = (try? FileTree.names(in: folder.path + "/loads"))?.contains { $0.hasPrefix("host-") }
            seen.withLock { $0.append(isThere == true) }
        }
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {\#(Self.managers)}}"#,
            in: folder, log: log)
        try await test.host.start()
        #expect(test.loadFolders().count == 1)
        let data = try FileTree.names(in: test.data)

        await test.host.stop()

        #expect(seen.withLock { $0 } == Array(repeating: true, count: 5))
        #expect(test.loadFolders() == [])
        #expect(try FileTree.names(in: test.data) == data && data.count == 1)
        #expect(try Set(FileTree.names(in: FilePath.join(test.data, data[0]))) == ["@store", "ChallengeDataAccess"])
    }

    @Test func `a manager's state goes from resolved to stopped`() async throws {
        let test = try TestHost(
            managers: #""A": {"className": "TrialManager"}, "B": {"className": "Missing"}"#, from: .linked)
        func states() async -> [String] { await test.host.managers.map { "\($0.name) \($0.state)" } }
        #expect(await states() == ["A resolved", "B unsatisfied"])
        _ = try await test.host.manager("A", as: Trials.self)
        #expect(await states() == ["A ready", "B unsatisfied"])
        await test.host.stop()
        #expect(await states() == ["A stopped", "B unsatisfied"])
    }
}
