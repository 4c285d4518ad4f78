import Testing

@testable import BackplaneCommand
@testable import BackplaneHost

@Suite struct StartProgressTests {
    @Test func `it shows how many managers are up, and which are starting`() {
        let names = ["A", "B", "C", "D", "E", "F"]
        let states: [ManagerState] = [.ready, .starting, .starting, .starting, .starting, .resolved]
        let managers = zip(names, states).map { ManagerStatus(name: $0, state: $1) }
        #expect(StartProgress.line(managers) == "starting, 1 of 6 up: B, C, D, …")
        #expect(StartProgress.line(Array(managers.prefix(2))) == "starting, 1 of 2 up: B")
        #expect(StartProgress.line([managers[0]]) == "starting, 1 of 1 up")
    }
}
