import Backplane
import TestFixtures
import Testing

@testable import BackplaneHost

extension CounterHost {
    /// Expects that completed swaps left nothing behind but what is active.
    ///
    /// - Parameters:
    ///   - slots: of each counter, those that lead to it.
    ///   - inFlight: of each, the calls that nobody waits for any more.
    func expectNothingLeft(
        slots: [String: Int], inFlight: [String: Int] = [:], _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let coordinator = host.coordinator
        await eventually(location) { await !coordinator.hasRetirements }
        let nodes = await coordinator.nodeCounts
        #expect(nodes.known == nodes.active, "guests", sourceLocation: location)
        #expect(nodes.started == nodes.ready, "the order of starting", sourceLocation: location)
        #expect(await coordinator.numbersInUse == nodes.ready, "numbers", sourceLocation: location)
        for (name, count) in slots {
            let gate = try await coordinator.gate(of: name)
            #expect(gate.slotCount == count, "slots of \(name)", sourceLocation: location)
            // The thread that made a call may count it out once another has the answer.
            await eventually(location) {
                gate.callsInFlight == inFlight[name] ?? 0 && gate.callsAside == 0 && gate.callsWaiting == 0
            }
        }
    }
}

extension CounterEvents {
    var left: [Int: Int] { all.left }
}

extension [String] {
    /// How many there are of each edition, made and not gone.
    var left: [Int: Int] {
        var left: [Int: Int] = [:]
        for event in self {
            let words = event.split(separator: " "), edition = words.last.flatMap { Int($0) } ?? 0
            if words.first == "made" { left[edition, default: 0] += 1 }
            if words.first == "gone" { left[edition, default: 0] -= 1 }
        }
        return left.filter { $0.value != 0 }
    }
}
