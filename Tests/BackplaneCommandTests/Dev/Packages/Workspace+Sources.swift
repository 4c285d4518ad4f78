/// What the two packages consist of, in the editions in which they are saved.
extension Workspace {
    static func package(products: [String] = ["GreetingProvider", "GreetingCaller"]) -> String {
        let libraries = products.map { #".library(name: "\#($0)", type: .dynamic, targets: ["\#($0)"])"# }
        let targets = products.map { name in
            let files = name == "GreetingProvider" ? #", resources: [.copy("greeting.txt")]"# : ""
            return #".target(name: "\#(name)", dependencies: [backplane, "WorkspaceContracts"]\#(files))"#
        }
        return """
            // swift-tools-version: 6.3
            import PackageDescription

            let backplane: Target.Dependency = .product(name: "Backplane", package: "backplane")

            let package = Package(
                name: "workbench",
                products: [\(libraries.joined(separator: ", "))],
                dependencies: [.package(path: "../backplane", traits: [])],
                targets: [
                    .target(name: "WorkspaceContracts", dependencies: [backplane]),
                    \(targets.joined(separator: ",\n        ")),
                ])

            """
    }

    /// - Parameter number: the major version; from 2 on a greeting is several words.
    static func contracts(_ number: Int = 1) -> String {
        """
        import Backplane

        public struct Words: Contract {
            public static let version: Version = "\(number).0.0"
            public let greet = AsyncMethod<String, \(number == 1 ? "String" : "[String]")>()
            public let greeted = AsyncMethod<Nothing, Int>()
            public let linger = AsyncMethod<Nothing, Int>()
            public init() {}
        }

        """
    }

    /// Greets with the word of its file, and counts; state that a swap carries over.
    static func provider(_ end: String, contract: Int = 1) -> String {
        let text = #""\(greeting), \(name)\#(end)""#
        return """
            import Backplane
            import WorkspaceContracts

            actor GreetingProvider: Manager, StatefulComponent {
                typealias Provides = Words
                struct State: Codable { var greeted: Int }
                private let greeting: String
                private var greeted = 0

                init(_ context: Context) throws {
                    greeting = String(decoding: try context.resources.data("greeting.txt"), as: UTF8.self)
                }

                func exportState() -> State { State(greeted: greeted) }
                func importState(_ state: State) { greeted = state.greeted }

                private func greet(_ name: String) -> \(contract == 1 ? "String" : "[String]") {
                    greeted += 1
                    return \(contract == 1 ? text : "[\(text)]")
                }

                static func methods(_ table: inout Methods) {
                    table.async(\\.greet) { provider, name, _ in await provider.greet(name) }
                    table.async(\\.greeted) { provider, _, _ in await provider.greeted }
                    table.async(\\.linger) { provider, _, _ in
                        try await Task.sleep(for: .milliseconds(20))
                        return await provider.greeted
                    }
                }
            }

            \(plugin("GreetingProvider"))
            """
    }

    static func caller(_ question: String, contract: Int = 1) -> String {
        """
        import Backplane
        import WorkspaceContracts

        struct Asking: Contract {
            static let version: Version = "1.0.0"
            let ask = AsyncMethod<String, String>()
        }

        final class GreetingCaller: Manager {
            typealias Provides = Asking
            struct Wires: Wiring { let words: Wire<Words> }
            private let wires: Wires

            init(_ context: Context) { wires = context.wires }

            static func methods(_ table: inout Methods) {
                table.async(\\.ask) { caller, name, call in
                    let greeting = try await caller.wires.words.greet(name, call)
                    return "\\(greeting\(contract == 1 ? "" : #".joined(separator: " ")"#)) \(question)"
                }
            }
        }

        \(plugin("GreetingCaller"))
        """
    }

    /// A plugin that nobody else needs.
    static func constant(_ name: String, _ text: String) -> String {
        """
        import Backplane

        struct \(name)Contract: Contract {
            static let version: Version = "1.0.0"
            let read = AsyncMethod<Nothing, String>()
        }

        final class \(name): Manager {
            typealias Provides = \(name)Contract
            init(_ context: Context) {}
            static func methods(_ table: inout Methods) { table.async(\\.read) { _, _, _ in "\(text)" } }
        }

        \(plugin(name))
        """
    }

    private static func plugin(_ name: String) -> String {
        """
        public struct \(name)Plugin: Plugin {
            public static let id = "org.example.\(name.lowercased())"
            public static let version: Version = "1.0.0"
            public static func register(in registrar: inout Registrar) { registrar.add(\(name).self) }
        }

        """
    }

    static func manifest(_ others: String...) -> String {
        let plugins = (["GreetingProvider", "GreetingCaller"] + others).map { #"{ "library": "\#($0)" }"# }
        let managers = others.map { ",\n    \"\($0)\": { \"className\": \"\($0)\" }" }
        return #"""
            {
              "manifestVersion": 1,
              "plugins": [\#(plugins.joined(separator: ", "))],
              "managers": {
                "GreetingProvider": { "className": "GreetingProvider" },
                "GreetingCaller": { "className": "GreetingCaller",
                  "uses": { "words": "GreetingProvider" } }\#(managers.joined())
              }
            }

            """#
    }

    static let annexPackage = """
        // swift-tools-version: 6.3
        import PackageDescription

        let package = Package(
            name: "annex",
            products: [.library(name: "Annex", type: .dynamic, targets: ["Annex"])],
            dependencies: [.package(path: "../backplane", traits: [])],
            targets: [.target(name: "Annex", dependencies: [.product(name: "Backplane", package: "backplane")])])

        """
}
