import Backplane
import BackplaneDocuments
import Testing

@testable import BackplaneHost

/// What stays and what is recreated between two plans, decided without a host.
struct PlanChangeTests {
    private static let friend = ContractDescription.of("Friend")
    private static let catalogue = Catalogue(plugins: [
        .manager(
            "Person", provides: friend,
            wires: [.to("friend", friend, optional: true), .to("dataAccessController", .of("Store"), optional: true)]),
        .dataAccess("Store", provides: .of("Store")),
        .communication("Phone", wires: [.to("line", .of("Line"), optional: true)]),
        .service("Line", provides: .of("Line")),
    ])

    private func plan(_ managers: ManifestValue, _ catalogue: Catalogue = catalogue) throws -> Plan {
        let resolution = Resolution(managers, catalogue)
        #expect(resolution.problems.filter { $0.severity == .error } == [])
        try resolution.plan.checkInvariants()
        return resolution.plan
    }

    private func change(_ old: Plan, _ new: Plan) -> (kept: [String], removed: [String], added: [String]) {
        let change = PlanChange(from: old, to: new) { $0.component == $1.component && $0.plugin == $1.plugin }
        for (place, other) in change.kept { #expect(old.nodes[place].name == new.nodes[other].name) }
        #expect(change.kept.count + change.removed.count == old.nodes.count)
        #expect(change.kept.count + change.added.count == new.nodes.count)
        return (
            change.kept.values.sorted().map { new.nodes[$0].name }, change.removed.map { old.nodes[$0].name },
            change.added.map { new.nodes[$0].name }
        )
    }

    private static let person: ManifestValue = ["className": "Person"]

    @Test func `the same plan keeps everything`() throws {
        let managers: ManifestValue = [
            "A": Self.person,
            "B": ["className": "Person", "uses": ["friend": "A"], "dataAccessController": ["className": "Store"]],
        ]
        let change = change(try plan(managers), try plan(managers))
        #expect(change.kept == ["A", "Store", "B"] && change.removed == [] && change.added == [])
    }

    @Test func `a change includes its users, transitively`() throws {
        func managers(_ number: Int64) -> ManifestValue {
            [
                "A": ["className": "Person", "configuration": ["number": .integer(number)]],
                "B": ["className": "Person", "uses": ["friend": "A"]],
                "C": ["className": "Person", "uses": ["friend": "B"]], "D": Self.person,
            ]
        }
        let change = change(try plan(managers(1)), try plan(managers(2)))
        #expect(change.kept == ["D"] && change.removed == ["A", "B", "C"] && change.added == ["A", "B", "C"])
    }

    @Test func `a component with another collaborator is recreated, both collaborators stay`() throws {
        func managers(_ friend: String) -> ManifestValue {
            ["A": Self.person, "B": Self.person, "C": ["className": "Person", "uses": ["friend": .string(friend)]]]
        }
        let change = change(try plan(managers("A")), try plan(managers("B")))
        #expect(change.kept == ["A", "B"] && change.added == ["C"])
        let none = self.change(
            try plan(managers("A")), try plan(["A": Self.person, "B": Self.person, "C": Self.person]))
        #expect(none.added == ["C"])
    }

    @Test func `a component that is shared stays while one of its managers does`() throws {
        let user: ManifestValue = ["className": "Person", "dataAccessController": ["className": "Store"]]
        let change = change(try plan(["A": user, "B": user]), try plan(["B": user, "C": user]))
        #expect(change.kept == ["Store", "B"] && change.removed == ["A"] && change.added == ["C"])
    }

    @Test func `a service whose address changes takes along the layers above it`() throws {
        func managers(_ address: String) -> ManifestValue {
            [
                "A": [
                    "className": "Person", "dataAccessController": ["className": "Store"],
                    "communicationController": [
                        "className": "Phone",
                        "services": [
                            [
                                "className": "Line", "propertyName": "line",
                                "networkServiceConfiguration": ["baseURL": .string(address)],
                            ]
                        ],
                    ],
                ]
            ]
        }
        let change = change(try plan(managers("http://a")), try plan(managers("http://b")))
        // The manager's class does not ask for its communication controller, so nothing of it leads there.
        #expect(change.kept == ["Store", "A"] && change.added == ["Line", "Phone"])
    }

    @Test func `a service is recreated when its folder gets another name, unless the manifest names it`() throws {
        func managers(_ names: [String], _ more: [String: ManifestValue] = [:]) -> ManifestValue {
            let service = more.merging(["className": "Line", "propertyName": "line"]) { $1 }
            return .dictionary(
                Dictionary(
                    uniqueKeysWithValues: names.map { name -> (String, ManifestValue) in
                        let phone: ManifestValue = ["className": "Phone", "services": [.dictionary(service)]]
                        return (name, ["className": "Person", "communicationController": phone])
                    }))
        }
        // The service that both share has a folder that is named after the first of them.
        let change = change(try plan(managers(["A", "B"])), try plan(managers(["B"])))
        #expect(change.added == ["Line", "Phone"] && change.kept == ["B"])
        let named: [String: ManifestValue] = ["namespace": "Lines"]
        let stays = self.change(try plan(managers(["A", "B"], named)), try plan(managers(["B"], named)))
        #expect(stays.added == [] && stays.kept == ["Line", "Phone", "B"])
        // The other manager's service does not end up with the folder of the one that was there before.
        let last = self.change(try plan(managers(["B"])), try plan(managers(["A", "B"])))
        #expect(last.added == ["Line", "Phone", "A", "Phone"] && last.kept == ["B"])
    }

    /// The names of the nodes that take another configuration where every class does.
    private func reconfigured(_ old: ManifestValue, _ new: ManifestValue) throws -> (names: [String], added: [String]) {
        let old = try plan(old), new = try plan(new)
        let change = PlanChange(from: old, to: new, isReconfigurable: { _ in true }) {
            $0.component == $1.component && $0.plugin == $1.plugin
        }
        #expect(change.kept.count + change.removed.count == old.nodes.count)
        #expect(change.kept.count + change.added.count == new.nodes.count)
        #expect(Set(change.kept.values).count == change.kept.count)
        for place in change.reconfigured { #expect(old.nodes[place].name == new.nodes[change.kept[place]!].name) }
        return (change.reconfigured.map { old.nodes[$0].name }, change.added.map { new.nodes[$0].name })
    }

    @Test func `a configuration alone keeps a component and those that use it`() throws {
        func managers(_ number: Int64) -> ManifestValue {
            [
                "A": ["className": "Person", "configuration": ["number": .integer(number)]],
                "B": ["className": "Person", "uses": ["friend": "A"]],
            ]
        }
        let change = try reconfigured(managers(1), managers(2))
        #expect(change.names == ["A"] && change.added == [])
    }

    @Test func `a configuration and another collaborator make another component`() throws {
        func managers(_ number: Int64, _ friend: String) -> ManifestValue {
            [
                "A": Self.person, "B": Self.person,
                "C": [
                    "className": "Person", "configuration": ["number": .integer(number)],
                    "uses": ["friend": .string(friend)],
                ],
            ]
        }
        let change = try reconfigured(managers(1, "A"), managers(2, "B"))
        #expect(change.names == [] && change.added == ["C"])
    }

    /// The numbers that the managers A and B give their services, before and after.
    @Test(
        arguments: [
            ([1, 1], [2, 2], ["Line"], []), ([1, 2], [1, 3], ["Line"], []), ([1, 2], [3, 4], ["Line", "Line"], []),
            ([1, 2], [2, 1], ["Line", "Line"], []), ([1, 1], [1, 2], [], ["Line", "Phone"]),
            ([1, 2], [2, 2], [], ["Line", "Phone", "Phone"]),
            ([1, 1], [2, 3], [], ["Line", "Line", "Phone", "Phone"]),
        ] as [([Int64], [Int64], [String], [String])])
    func `a shared collaborator takes another configuration if all who share it change alike`(
        old: [Int64], new: [Int64], names: [String], added: [String]
    ) throws {
        func managers(_ numbers: [Int64]) -> ManifestValue {
            var managers: [String: ManifestValue] = [:]
            for (name, number) in zip(["A", "B"], numbers) {
                managers[name] = [
                    "className": "Person",
                    "communicationController": [
                        "className": "Phone",
                        "services": [
                            [
                                "className": "Line", "propertyName": "line",
                                "networkServiceConfiguration": ["number": .integer(number)],
                            ]
                        ],
                    ],
                ]
            }
            return .dictionary(managers)
        }
        let change = try reconfigured(managers(old), managers(new))
        #expect(change.names == names && change.added.sorted() == added)
    }

    @Test func `a class of another version is another component`() throws {
        let newer = Catalogue(plugins: [.manager("Person", "2.0.0", provides: Self.friend)])
        let change = change(try plan(["A": Self.person]), try plan(["A": Self.person], newer))
        #expect(change.kept == [] && change.added == ["A"])
    }

    @Test func `a reset is of the places given and no others`() throws {
        let plan = try plan([
            "A": Self.person, "B": ["className": "Person", "uses": ["friend": "A"]], "C": Self.person,
        ])
        let change = PlanChange(resetting: [0], of: plan)
        #expect(change.removed == [0] && change.added == [0] && change.kept == [1: 1, 2: 2])
    }
}

/// In which order components stop.
struct StopOrderTests {
    @Test func `callers stop before the components they call, otherwise the last one first`() {
        #expect(StopOrder.of([1, 2, 3], calling: { _ in [] }) == [3, 2, 1])
        // 1 looked 3 up after it had come up.
        #expect(StopOrder.of([1, 2, 3], calling: { $0 == 1 ? [3] : [] }) == [2, 1, 3])
    }
}

struct ComponentNumbersTests {
    @Test func `a number is one component's, and is given again as late as possible`() throws {
        var numbers = ComponentNumbers()
        let catalogue = Catalogue(plugins: [.manager("Person")])
        let node = try Resolution(["A": ["className": "Person"]], catalogue).plan.node(ofManager: "A")
        let all = try (1...65_535).map { _ in try numbers.take(for: node) }
        #expect(all == Array(1...65_535))
        let none = #expect(throws: BackplaneError.self) { try numbers.take(for: node) }
        #expect(none?.location == "/managers/A" && none?.message.contains("65535 components are running") == true)
        numbers.giveBack(7)
        numbers.giveBack(3)
        #expect(try numbers.take(for: node) == 7)
        #expect(try numbers.take(for: node) == 3)
    }
}
