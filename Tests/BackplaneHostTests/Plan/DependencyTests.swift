import Backplane
import BackplaneDocuments
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// Managers of one class that may use up to eight others, called 0 to 7.
private func resolve(_ uses: [String: [String]], faulty: Set<String> = []) -> Resolution {
    let api = ContractDescription.of("API")
    let wires = (0..<8).map { WireDescription.to("\($0)", api, optional: true) }
    let managers = uses.map { name, used in
        let labelled = Dictionary(uniqueKeysWithValues: used.enumerated().map { ("\($0)", ManifestValue.string($1)) })
        return (
            name,
            ["className": faulty.contains(name) ? "Nowhere" : "M", "uses": .dictionary(labelled)] as ManifestValue
        )
    }
    return Resolution(
        .dictionary(Dictionary(uniqueKeysWithValues: managers)),
        Catalogue(plugins: [.manager("M", provides: api, wires: wires)]))
}

private func order(_ plan: Plan) -> [String] { plan.nodes.flatMap(\.managers) }

struct `Managers that use managers` {
    @Test func `They come after those they use, otherwise by name`() throws {
        let plan = resolve(["A": ["Z"], "B": [], "C": ["A", "B"], "Z": []]).plan
        #expect(order(plan) == ["B", "Z", "A", "C"])
        #expect(try plan.nodes(neededBy: "A").flatMap(\.managers) == ["Z", "A"])
        #expect(try plan.nodes(neededBy: "C").flatMap(\.managers) == ["B", "Z", "A", "C"])
        try plan.checkInvariants()
    }

    @Test func `A circle is printed as one, at every member, and leaves the others be`() {
        let resolution = resolve(["A": ["B"], "B": ["D", "C"], "C": ["A"], "D": [], "Self": ["Self"]])
        let circle = "managers use one another in a cycle: A → B → C → A"
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A/uses/0: manager.cycle: \(circle)",
                "error B /managers/B/uses/1: manager.cycle: \(circle)",
                "error C /managers/C/uses/0: manager.cycle: \(circle)",
                "error Self /managers/Self/uses/0: manager.cycle: managers use one another in a cycle: Self → Self",
            ])
        #expect(order(resolution.plan) == ["D"])
        #expect(resolution.plan.faults.keys.sorted() == ["A", "B", "C", "Self"])
    }

    @Test func `Who uses one with a fault has one as well, which names where it began`() throws {
        let resolution = resolve(["A": ["B"], "B": ["C"], "C": [], "Other": []], faulty: ["C"])
        let root = BackplaneError(
            .unknownClass, "no plugin registers a class `Nowhere`; registered as a manager: `M`",
            at: "/managers/C/className")
        #expect(
            resolution.plan.faults["B"]
                == BackplaneError(
                    .dependencyUnsatisfied, "`C` cannot be created: \(root.message)", at: "/managers/B/uses/0",
                    causes: [root]))
        #expect(
            resolution.plan.faults["A"]
                == BackplaneError(
                    .dependencyUnsatisfied, "`B` cannot be created because `C` cannot: \(root.message)",
                    at: "/managers/A/uses/0", causes: [root]))
        #expect(order(resolution.plan) == ["Other"])
    }

    @Test func `A fault that reading found spreads too`() {
        let api = ContractDescription.of("API")
        let resolution = Resolution(
            ["A": ["className": "M", "uses": ["b": "B"]], "B": ["className": 3]],
            Catalogue(plugins: [.manager("M", provides: api, wires: [.to("b", api)])]))
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A/uses/b: manager.unsatisfied: `B` cannot be created: expected a string, found an integer",
                "error B /managers/B/className: manifest.wrong-type: expected a string, found an integer",
            ])
    }

    @Test func `Several errors of one manager are one fault with all as its causes`() {
        let resolution = resolve(["A": ["Gone"]], faulty: ["A"])
        let fault = resolution.plan.faults["A"]
        #expect(fault?.location == "/managers/A")
        #expect(
            fault?.message
                == "`A` has 2 errors, the first: no plugin registers a class `Nowhere`; registered as a manager: `M`")
        #expect(fault?.causes == resolution.problems.map(\.error))
    }

    @Test func `A name that is not there is an error that names the nearest`() {
        let plan = resolve(["ClockManager": [], "ArtManager": [], "Bad": []], faulty: ["Bad"]).plan
        #expect(
            throws: BackplaneError(
                .unknownManager,
                "no manager is named `ClokManager`; did you mean `ClockManager`?"
            )
        ) { try plan.node(ofManager: "ClokManager") }
        #expect(throws: BackplaneError(.unknownManager, "no manager is named `X`; there are none")) {
            try resolve([:]).plan.nodes(neededBy: "X")
        }
    }

    @Test func `A name looked up in a manifest that could not be read says why nothing is there`() throws {
        let plan = Resolution(ManifestDocument(contentsOf: "/nowhere.json"), catalogue: Catalogue([])).plan
        let error = try #require(throws: BackplaneError.self) { try plan.node(ofManager: "M") }
        #expect(error.causes.map(\.code) == [.manifestUnreadable])
    }

    @Test(arguments: 0..<60)
    func `In any graph, providers come before users and none is lost`(seed: UInt64) throws {
        var random = SeededNumbers(seed)
        let names = (0..<Int.random(in: 1...20, using: &random)).map { "M\($0)" }
        let uses = Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, Array(names.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random))))
            })
        let faulty = Set(names.filter { _ in Int.random(in: 0..<10, using: &random) == 0 })
        let plan = resolve(uses, faulty: faulty).plan
        try plan.checkInvariants()

        // A manager is sound exactly if nothing it reaches is faulty or reaches itself.
        func reached(from name: String) -> Set<String> {
            var (found, waiting) = (Set<String>(), uses[name]!)
            while let next = waiting.popLast() {
                if found.insert(next).inserted { waiting += uses[next]! }
            }
            return found
        }
        let sound = names.filter { name in
            reached(from: name).union([name]).allSatisfy { !faulty.contains($0) && !reached(from: $0).contains($0) }
        }
        #expect(Set(plan.managers.keys) == Set(sound), "\(uses) \(faulty)")
        #expect(Set(plan.faults.keys) == Set(names).subtracting(sound))
        for name in sound {
            let needed = try plan.nodes(neededBy: name)
            #expect(Set(needed.flatMap(\.managers)) == reached(from: name).union([name]))
            #expect(needed.map(\.id) == needed.map(\.id).sorted())
        }
    }
}
