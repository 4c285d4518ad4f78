import Backplane
import BackplaneDocuments
import BackplaneHost
import FoundationEssentials

/// The templates of the files that `backplane new` writes: texts with placeholders such as `{{name}}`.
enum Template {
    /// Returns a template's text with its values filled in.
    ///
    /// - Throws: `new.templates` if the template is in none of the folders that belong to this command.
    static func text(_ name: String, _ values: [String: String] = [:]) throws(BackplaneError) -> String {
        let places = places
        let text = places.lazy.compactMap { folder in
            try? String(contentsOf: URL(filePath: FilePath.join(folder, "\(name).template")), encoding: .utf8)
        }.first
        guard let text else {
            throw BackplaneError(
                .newTemplates,
                "the template `\(name)` of this command is in none of \(places.joined(separator: ", ")); install the "
                    + "command with `make install`, or copy the folder `\(folder)` of its sources to the first of these"
            )
        }
        return text.replacing(/\{\{(\w+)\}\}/) { match in values[String(match.1)] ?? String(match.0) }
    }

    /// The folders of the templates: of an installed command, of a command from `make dist`, and of a checkout.
    private static var places: [String] {
        let beside = RunningExecutable.folder.map {
            [FilePath.join(FilePath.folder(of: $0), "share/backplane/templates"), FilePath.join($0, "templates")]
        }
        return (beside ?? []) + OwnPackage.candidates.map { FilePath.join($0, folder) }
    }

    private static let folder = "Sources/BackplaneTools/Templates"

    /// The address at which an application of `new app --routes` is served.
    static let address = "127.0.0.1:8080"

    /// Returns the files at the root of a new package, besides its manifest and its README.
    ///
    /// - Parameter products: The products and targets as Swift expressions.
    static func root(_ name: NewName, _ backplane: BackplanePackage, products: [String], targets: [TargetText])
        throws(BackplaneError) -> [Blueprint.File]
    {
        func list(_ elements: [String]) -> String {
            elements.map { "\($0),".indented(by: "        ") }.joined(separator: "\n")
        }
        let values = [
            "name": name.text, "products": list(products), "dependency": list([backplane.dependency]),
            "targets": list(targets.map(\.text)), "schema": String(decoding: backplane.schema.json, as: UTF8.self),
        ]
        var files: [Blueprint.File] = []
        for (path, template) in [
            ("Package.swift", "Package.swift"), (".gitignore", "gitignore"),
            (".vscode/settings.json", "settings.json"), (".vscode/tasks.json", "tasks.json"),
        ] {
            files.append(.init(path: path, text: try text(template, values)))
        }
        return files
    }
}

extension BackplanePackage {
    /// The location of the manifest's schema, as a URL or relative to the new package.
    fileprivate var schema: String {
        switch self {
        case .folder(let path): URL(filePath: FilePath.join(path, "docs/manifest.schema.json")).absoluteString
        case .url: "./.build/checkouts/\(identity)/docs/manifest.schema.json"
        }
    }
}

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
