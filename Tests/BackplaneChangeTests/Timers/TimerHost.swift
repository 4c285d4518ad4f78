import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// A host with one component, with or without a gate, whose timers go by a clock that the test advances.
struct TimerHost {
    /// The component, and how it is swapped.
    enum Kind: CaseIterable, Sendable {
        /// A component with state, whose calls wait during a swap.
        case gated
        /// A component that is swapped without anybody waiting.
        case ungated
    }
    let kind: Kind
    let counters: CounterHost
    let events: CounterEvents
    var clock: TestClock { counters.test.clock }
    var host: PluginHost { counters.host }
    var log: TestLog { counters.test.log }
    var name: String { kind == .gated ? "Counter" : "Worker" }

    init(_ kind: Kind, _ script: CounterScript, options change: (inout HostOptions) -> Void = { _ in }) async throws {
        self.kind = kind
        let worker = CounterEvents(script)
        counters = try CounterHost(
            kind == .gated ? ["Counter"] : [], script: script,
            others: kind == .gated ? [:] : ["Worker": WorkerPlugin.manager("Worker", worker)],
            linked: [WorkerPlugin.edition()], options: change)
        events = counters.counters["Counter"] ?? worker
        try await counters.host.start()
    }

    /// Swaps the component for another edition, which does this.
    @discardableResult
    func swap(_ script: CounterScript, _ options: ChangeOptions = .patient)
        async throws(BackplaneError) -> ChangeReport
    {
        events.next(script)
        let version = Version(script.edition)
        return try await counters.swap(
            linked: [kind == .gated ? CounterHost.edition(version) : WorkerPlugin.edition(version)], options)
    }

    /// The lines of timers among the events.
    var fired: [String] { events.all.filter { $0.hasPrefix("fired") } }

    var statistics: [TimerStatistics] {
        get async { await host.statistics.first { $0.component == name }?.timers ?? [] }
    }
}

extension CounterScript {
    /// A script whose component notes that one timer has fired, with its edition.
    static func ticking(
        _ edition: Int = 1, every period: Duration = .seconds(30), jitter: Duration = .zero, named name: String? = nil
    ) -> CounterScript {
        CounterScript(edition: edition) { tasks, events in
            try tasks.every(period, jitter: jitter, name: name) { _ in events.note("fired \(edition)") }
        }
    }

    init(edition: Int, timers: @escaping @Sendable (ComponentTasks, CounterEvents) throws -> Void) {
        self.init()
        (self.edition, self.timers) = (edition, timers)
    }
}
