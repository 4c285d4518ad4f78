/// The declaration of a target in a Package.swift.
struct TargetText: Sendable, Hashable {
    enum Kind: String, Sendable {
        case target, executableTarget, testTarget
    }
    var kind = Kind.target
    var name: String
    /// The dependencies as Swift expressions.
    var dependencies: [String]
    /// The path of the folder, or `nil` for the default of SwiftPM.
    var path: String?
    /// The paths of files to copy beside the library, relative to the folder.
    var resources: [String] = []

    /// The declaration as lines without indentation, and without a trailing comma.
    var text: String {
        let line = ".\(kind)(" + arguments.joined(separator: ", ") + ")"
        if line.count <= Self.lineLength { return line }
        let list = "dependencies: [\n" + dependencies.map { "        \($0),\n" }.joined() + "    ]"
        let lines = arguments.map { $0.count > Self.lineLength && $0.hasPrefix("dependencies") ? list : $0 }
        return ".\(kind)(\n" + lines.map { "    \($0)" }.joined(separator: ",\n") + ")"
    }

    private static let lineLength = 110

    private var arguments: [String] {
        [
            "name: \(name.swiftLiteral)",
            "dependencies: [\(dependencies.joined(separator: ", "))]",
            path.map { "path: \($0.swiftLiteral)" },
            resources.isEmpty
                ? nil : "resources: [\(resources.map { ".copy(\($0.swiftLiteral))" }.joined(separator: ", "))]",
        ].compactMap(\.self)
    }

    /// Returns the declaration of a library product that hosts load.
    static func dynamicLibrary(_ name: String, target: String) -> String {
        ".library(name: \(name.swiftLiteral), type: .dynamic, targets: [\(target.swiftLiteral)])"
    }

    /// Returns the declaration of a library product that other packages import.
    static func library(_ name: String) -> String {
        ".library(name: \(name.swiftLiteral), targets: [\(name.swiftLiteral)])"
    }

    /// Returns a target's dependency on a product of Backplane.
    static func product(_ name: String, of package: String) -> String {
        ".product(name: \(name.swiftLiteral), package: \(package.swiftLiteral))"
    }

    static func name(_ name: String) -> String { name.swiftLiteral }
}

extension String {
    /// Returns the text with every line indented, except for empty lines.
    func indented(by indent: String) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : indent + $0 }.joined(
            separator: "\n")
    }
}
