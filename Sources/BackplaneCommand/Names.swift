import ArgumentParser
import Backplane
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Names: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "names",
            abstract: "Print a Swift constant for each manager, ready to paste.",
            discussion: """
                With such a constant, a program looks up a manager by its name and its contract in one step: \
                `host.manager(.library)`. Managers that provide no contract or cannot be created become comments. \
                Nothing is started. The exit code is 1 if the manifest cannot be read.

                EXAMPLES
                  backplane names manifests/bookshelf.json > Managers.swift
                  backplane names --json
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Flag(help: "Print the names as JSON.") var json = false

        func run() async throws {
            let settings = try host.settings(manifest.path), composition = await settings.compose()
            guard !composition.isEmpty else { throw ExitCode(settings.fail(composition)) }
            let constants = ManagerConstants(composition)
            if json { Output.json(constants) } else { Output.line(constants.swift(of: settings.manifest)) }
            settings.remark(onErrorsOf: composition)
        }
    }
}

/// A Swift constant for each manager that provides a contract.
struct ManagerConstants: Encodable, Sendable {
    var constants: [Constant]
    /// The managers without a constant, with the reasons.
    var others: [Other]

    struct Constant: Encodable, Sendable, Hashable {
        var manager: String
        var contract: String
        /// The name of the constant, in backticks if it is a keyword.
        var identifier: String
        /// The manager's class, with its routes and screens.
        var component: ListedComponent
    }

    struct Other: Encodable, Sendable, Hashable {
        var manager: String
        var reason: String
    }

    init(_ composition: Composition) {
        let identifiers = Self.identifiers(for: composition.managerNames)
        (constants, others) = ([], [])
        for name in composition.managerNames {
            if let fault = composition.plan.faults[name] {
                others.append(Other(manager: name, reason: "cannot be created: \(fault.message)"))
            } else if let node = composition.plan.managers[name].map({ composition.plan.nodes[$0] }),
                let contract = node.entry.component.contract?.name
            {
                add(name, contract, ListedComponent(node.entry, usedBy: node.managers), identifiers[name])
            } else {
                others.append(Other(manager: name, reason: "provides no contract"))
            }
        }
    }

    private mutating func add(
        _ name: String, _ contract: String, _ component: ListedComponent, _ identifier: SwiftIdentifier?
    ) {
        if !SwiftIdentifier.isTypeName(contract) {
            others.append(Other(manager: name, reason: "provides `\(contract)`, which is not the name of a Swift type"))
        } else if let identifier {
            constants.append(
                Constant(manager: name, contract: contract, identifier: identifier.spelled, component: component))
        } else {
            others.append(Other(manager: name, reason: "its name cannot be written as an identifier"))
        }
    }

    /// Returns a unique identifier for each name.
    ///
    /// An identifier is the name without `Manager` if that is unambiguous, otherwise the whole name, with a number if
    /// needed.
    static func identifiers(for names: [String]) -> [String: SwiftIdentifier] {
        let whole = names.compactMap { name in SwiftIdentifier(camelCasing: name).map { (name, $0) } }
        let short = whole.map { ($0, $1.withoutManager.flatMap { $0.isTaken ? nil : $0 } ?? $1) }
        let counts = (whole + short).reduce(into: [:]) { counts, pair in counts[pair.1, default: Set()].insert(pair.0) }
        var identifiers: [String: SwiftIdentifier] = [:]
        var used: Set<SwiftIdentifier> = []
        // Assign uncontested identifiers first, so that only the names that need a number get one.
        for (name, identifier) in short where counts[identifier]?.count == 1 && !identifier.isTaken {
            identifiers[name] = identifier
            used.insert(identifier)
        }
        // The next number to try for each contested identifier.
        var numbers: [SwiftIdentifier: Int] = [:]
        for (name, identifier) in whole where identifiers[name] == nil {
            var free = identifier, number = numbers[identifier] ?? 2
            while used.contains(free) || free.isTaken {
                free = identifier.numbered(number)
                number += 1
            }
            identifiers[name] = free
            numbers[identifier] = number
            used.insert(free)
        }
        return identifiers
    }
}

extension ManagerConstants {
    /// Returns the constants as Swift source.
    ///
    /// - Parameter manifest: The path of the manifest, which is mentioned in the first line of the source.
    func swift(of manifest: String) -> String {
        let contracts = Dictionary(grouping: constants, by: \.contract).sorted { $0.key < $1.key }
        var lines = [
            "// The managers of \(manifest.printable), as in `host.manager(\(constants.first.map { ".\($0.identifier)" } ?? "…"))`."
        ]
        if !contracts.isEmpty {
            lines += [
                "import BackplaneHost", "// Also import what declares \(contracts.map(\.key).joined(separator: ", ")).",
                "",
            ]
        }
        for (contract, constants) in contracts {
            lines.append("extension ManagerName where C == \(contract) {")
            for constant in constants {
                lines += constant.component.lists.map { "    // \($0.printable)" }
                lines.append("    static var \(constant.identifier): Self { \(constant.manager.swiftLiteral) }")
            }
            lines += ["}", ""]
        }
        lines += others.map { "// \($0.manager.printable): \($0.reason.printable)" }
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n")
    }
}
