public import Backplane
public import BackplaneDocuments
public import FoundationEssentials

@_exported public import enum BackplaneDocuments.DocumentValue

// A manifest that is built in Swift contains values; importing the host is enough to write them.

/// A value of a manifest, independent of its original format.
public typealias ManifestValue = DocumentValue

/// The file format of a manifest.
public typealias ManifestFormat = DocumentFormat

/// A place in a manifest.
typealias ManifestPath = DocumentPath

extension ManifestPath {
    /// The path of the managers, which a plain Nemo Logic manifest has as its root.
    static let managers = ManifestPath() / "managers"
}

extension ManifestValue {
    /// Creates a value from JSON, or an XML or binary property list, detected by the first bytes.
    ///
    /// - Throws: `manifest.malformed`, with line and column in JSON; `manifest.unsupported` for more than 16 MB, 64
    ///   levels or a million values.
    public init(parsing bytes: Data) throws(BackplaneError) {
        do { try self.init(parsing: bytes, as: .manifest) } catch { throw BackplaneError(manifest: error) }
    }

    /// Returns the value as the contents of a file, whose bytes are identical for equal values.
    ///
    /// The contents are formatted for reading where the format permits it.
    ///
    /// JSON has neither data nor dates: they become base64 and seconds since the reference date, as in ``json``.
    ///
    /// - Throws: `manifest.unsupported` at a value that the format cannot represent: null in a property list, a number
    ///   that is not finite, or a control character in XML.
    public func encoded(as format: ManifestFormat) throws(BackplaneError) -> Data {
        do { return try encoded(as: format, in: ManifestShape.whole(self), of: .manifest) } catch {
            throw BackplaneError(manifest: error)
        }
    }
}

extension DocumentSubject {
    static var manifest: DocumentSubject { DocumentSubject("manifest", root: "a manifest is a dictionary") }
}

extension BackplaneError {
    /// Creates an error from one that was found while reading or writing a manifest as a document.
    init(manifest error: DocumentError) {
        let code =
            switch error.kind {
            case .malformed: Code.manifestMalformed
            case .unsupported: Code.manifestUnsupported
            }
        self.init(code, error.description, at: error.location)
    }
}

extension ManifestValue {
    /// Whether this is a plain Nemo Logic manifest.
    ///
    /// The root of such a manifest is the dictionary of managers.
    package var isNemoLogic: Bool { ManifestDocument(self, variables: { _ in nil }).isNemoLogic }

    /// The value of a plain Nemo Logic manifest in the `backplane` dialect: the same managers under a new root.
    package var upgraded: ManifestValue {
        ["manifestVersion": .integer(ManifestReader.supportedVersion), "managers": withoutVariables]
    }

    /// The library of an entry of `plugins`, which is the entry itself or its member.
    package var library: ManifestValue? {
        if case .dictionary(let plugin) = self { plugin["library"] } else { self }
    }

    /// The value of a manifest in the `backplane` dialect without redundant parts.
    ///
    /// A plugin that is only a library becomes a string, a class name that is the manager's name is left out, and a
    /// service's configuration has its short key. Environments stay as they are, because they may change such values.
    package var shortened: ManifestValue {
        guard case .dictionary(var root) = self, root["manifestVersion"] != nil else { return self }
        if case .array(let plugins)? = root["plugins"] {
            root["plugins"] = .array(
                plugins.map { plugin in
                    guard case .dictionary(let members) = plugin, members.count == 1 else { return plugin }
                    return members["library"] ?? plugin
                })
        }
        guard case .dictionary(let managers)? = root["managers"] else { return .dictionary(root) }
        let short = managers.map { name, manager in (name, manager.shortenedManager(name)) }
        root["managers"] = .dictionary(Dictionary(uniqueKeysWithValues: short))
        return .dictionary(root)
    }

    private func shortenedManager(_ name: String) -> ManifestValue {
        guard case .dictionary(var manager) = self else { return self }
        // Without `className`, a key that might be a misspelling of it is an error. Variables in keys are not expanded.
        if manager["className"] == .string(name), !VariableText.isNeeded(for: name),
            manager.keys.allSatisfy(ManifestShape.manager.keys.contains)
        {
            manager["className"] = nil
        }
        guard case .dictionary(var controller)? = manager["communicationController"],
            case .array(let services)? = controller["services"]
        else { return .dictionary(manager) }
        controller["services"] = .array(
            services.map { service in
                guard case .dictionary(var service) = service, service["configuration"] == nil else { return service }
                service["configuration"] = service.removeValue(forKey: "networkServiceConfiguration")
                return .dictionary(service)
            })
        manager["communicationController"] = .dictionary(controller)
        return .dictionary(manager)
    }

    /// The locations of keys that a plain Nemo Logic manifest ignores and that take effect once it is upgraded.
    package var keysThatAnUpgradeWakes: [String] {
        func unknown(_ value: ManifestValue) -> [String] {
            ManifestDocument(value, variables: { _ in nil }).problems.filter { $0.error.code == .manifestUnknownKey }
                .compactMap(\.error.location)
        }
        let later = Set(unknown(upgraded))
        return unknown(self).filter { !later.contains(ManifestPath.managers.description + $0) }
    }

    /// The value, escaped so that reading it with variables results in the original.
    package var withoutVariables: ManifestValue {
        switch self {
        case .string(let text): .string(VariableText.spelling(of: text))
        case .array(let values): .array(values.map(\.withoutVariables))
        case .dictionary(let members): .dictionary(members.mapValues(\.withoutVariables))
        default: self
        }
    }
}

/// The locations of values that an environment has contributed to a manifest.
///
/// They form a tree like the manifest itself, but only as deep as the environment.
package struct ManifestOrigins: Sendable, Hashable {
    /// The location at which this value and its contents are written; `nil` means their own, unless `members` differ.
    private var place: ManifestPath?
    /// The origins of the members, keyed by reference token of a JSON pointer.
    private var members: [String: ManifestOrigins] = [:]

    init(_ place: ManifestPath? = nil) {
        self.place = place
    }

    subscript(key: String) -> ManifestOrigins {
        get { members[key.pointerStep] ?? ManifestOrigins() }
        set { members[key.pointerStep] = newValue == ManifestOrigins() ? nil : newValue }
    }

    /// Returns the location of the value to which a pointer refers from here; `nil` if it is the pointer's own.
    func place(of pointer: String) -> String? {
        if place == nil, members.isEmpty { return nil }
        let (node, rest) = walk(pointer)
        return node.place.map { $0.description + rest }
    }

    /// Returns the origins of the values below a path.
    func below(_ path: ManifestPath) -> ManifestOrigins {
        if members.isEmpty { return ManifestOrigins() }
        let (node, rest) = walk(path.description)
        return node.place == nil && rest.isEmpty ? node : ManifestOrigins()
    }

    /// Returns the deepest node of the tree on the path to a value, and the rest of the pointer.
    private func walk(_ pointer: String) -> (node: ManifestOrigins, rest: String) {
        var node = self, rest = pointer.unicodeScalars[...]
        while node.place == nil, rest.first == "/" {
            let step = rest.dropFirst().prefix { $0 != "/" }
            guard let next = node.members[String(step)] else { break }
            node = next
            rest = rest[step.endIndex...]
        }
        return (node, String(rest))
    }
}
