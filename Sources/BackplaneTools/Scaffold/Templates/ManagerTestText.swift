extension ManagerLayers {
    /// Returns the source of tests that link the plugin and use fakes for the manager's controllers.
    ///
    /// - Parameters:
    ///   - module: The target that contains the plugin.
    ///   - plugin: The name of the plugin's type.
    func testText(module: String, plugin: String) -> String {
        """
        import Backplane
        import BackplaneHost
        import BackplaneTestKit
        \(importsAllContracts)import Testing
        @testable import \(module)

        @Suite(.timeLimit(.minutes(2)))
        struct \(manager)Tests {
        \(tests(plugin))
        }

        """
    }

    /// Returns the argument for the fakes of collaborators, and of the managers in use; empty if there are none.
    func fakes(_ own: String...) -> String {
        let all = own + uses.map { ".use(\($0.label.unquoted.swiftLiteral)): Fake(\($0.contract).self)" }
        return all.isEmpty ? "" : ", fakes: [\(all.joined(separator: ", "))]"
    }

    private func tests(_ plugin: String) -> String {
        switch (hasStore, hasService) {
        case (false, false): hasStream ? streamTests(plugin) : greetingTest(plugin)
        case (true, false): keepingTest(plugin)
        case (false, true): askingTest(plugin) + "\n\n" + serviceTest(plugin)
        case (true, true): sourcedTests(plugin) + "\n\n" + serviceTest(plugin)
        }
    }

    private func greetingTest(_ plugin: String) -> String {
        """
            @Test(arguments: [LaneRule.fastest, .encoded])
            func `it greets by name`(lanes: LaneRule) async throws {
                try await TestHost.run("\(manager)", plugins: [\(plugin).self]\(fakes()), lanes: lanes) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    let greeting = try await manager.greet("Ada")
                    #expect(greeting == "Hello, Ada!")
                }
            }
        """
    }

    private func keepingTest(_ plugin: String) -> String {
        """
            private let item = \(item)(id: "1", text: "one")

            @Test func `an added item is stored`() async throws {
                let manifest = Manifest(managers: [
                    "\(manager)": ManagerDefinition(className: "\(manager)", dataAccessController: ComponentDefinition(className: "\(store)"))
                ])
                try await TestHost.run(manifest, plugins: [\(plugin).self]\(fakes())) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    _ = try await manager.add(item)
                    let items = try await manager.items()
                    #expect(items == [item])
                    #expect(await host.store.ids(of: "\(kebab)-items", in: "\(store)") == ["1"])
                }
            }

            @Test func `there are no items in an empty store`() async throws {
                let archive = Fake(\(archive).self) { $0.async(\\.kept) { _, _ in nil } }
                try await TestHost.run("\(manager)", plugins: [\(plugin).self]\(fakes(".dataAccessController: archive"))) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    let items = try await manager.items()
                    #expect(items.isEmpty)
                }
            }
        """
    }

    private func askingTest(_ plugin: String) -> String {
        """
            private let item = \(item)(id: "1", text: "one")

            @Test func `it returns the items of the network`() async throws {
                let network = Fake(\(network).self) { $0.async(\\.items) { _, _ in [item] } }
                try await TestHost.run("\(manager)", plugins: [\(plugin).self]\(fakes(".communicationController: network"))) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    let items = try await manager.items()
                    #expect(items == [item])
                }
            }
        """
    }

    private func sourcedTests(_ plugin: String) -> String {
        """
            private let item = \(item)(id: "1", text: "one")

            @Test func `the items of the network are returned and stored`() async throws {
                let kept = Recording<[\(item)]>()
                let network = Fake(\(network).self) { $0.async(\\.items) { _, _ in [item] } }
                let archive = Fake(\(archive).self) { archive in
                    archive.async(\\.keep) { items, _ in
                        kept.add(items)
                        return Nothing()
                    }
                }
                try await TestHost.run("\(manager)", plugins: [\(plugin).self]\(fakes(".communicationController: network", ".dataAccessController: archive"))) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    let items = try await manager.items()
                    #expect(items == Sourced([item], from: .network))
                }
                #expect(kept.all == [[item]])
            }

            @Test func `stored items are returned if the network fails`() async throws {
                let network = Fake(\(network).self) { $0.async(\\.items) { _, _ in throw Unplugged() } }
                let archive = Fake(\(archive).self) { $0.async(\\.kept) { _, _ in Kept([item]) } }
                try await TestHost.run("\(manager)", plugins: [\(plugin).self]\(fakes(".communicationController: network", ".dataAccessController: archive"))) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    let items = try await manager.items()
                    #expect(items.value == [item])
                    #expect(items.source != .network)
                }
            }

            private struct Unplugged: Error {}
        """
    }

    /// Returns a test of all real components, in which only HTTP is faked.
    private func serviceTest(_ plugin: String) -> String {
        let withStore =
            hasStore
            ? "\n            dataAccessController: ComponentDefinition(className: \"\(store)\")," : ""
        return """
                @Test func `the service reads items from its URL`() async throws {
                    let service = ComponentDefinition(
                        className: "\(service)", propertyName: "feed", configuration: ["url": "http://items.test/all"])
                    let definition = ManagerDefinition(
                        className: "\(manager)",\(withStore)
                        communicationController: ComponentDefinition(className: "\(communication)", services: [service]))
                    try await TestHost.run(Manifest(managers: ["\(manager)": definition]), plugins: [\(plugin).self]\(fakes())) { host in
                        host.http.on("GET", "http://items.test/all", .json([item]))
                        let manager = try await host.manager("\(manager)", as: \(contract).self)
                        let items = try await manager.items()
                        #expect(items\(hasStore ? ".value" : "") == [item])
                    }
                }
            """
    }
}

extension String {
    /// The identifier without backticks.
    var unquoted: String { hasPrefix("`") ? String(dropFirst().dropLast()) : self }
}
