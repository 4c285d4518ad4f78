internal import Backplane
public import BackplaneDocuments

extension Manifest {
    /// The manifest as a value in the `backplane` dialect, from which an equal manifest can be read.
    ///
    /// Properties that have their default value are omitted. A `${` in a string is escaped, so that it is not mistaken
    /// for a variable.
    public var value: ManifestValue {
        var root: [String: ManifestValue] = [
            "manifestVersion": .integer(ManifestReader.supportedVersion),
            "managers": .dictionary(managers.mapValues(\.value)),
        ]
        root["plugins"] = plugins.map { .array($0.map(\.value)) }
        for section in ManifestSection.all { root[section.key] = section.value(in: self) }
        root = root.mapValues(\.withoutVariables)
        root["lock"] = lock?.value
        return .dictionary(root)
    }
}

extension PluginReference {
    fileprivate var value: ManifestValue {
        .dictionary(of: ["library": library, "version": version?.description, "sha256": sha256, "resources": resources])
    }
}

extension ManagerDefinition {
    fileprivate var value: ManifestValue {
        .dictionary(
            of: [
                "className": className, "was": was, "version": version?.description,
                "activation": activation == .eager ? nil : activation.rawValue,
            ],
            [
                "uses": .nonempty(uses.mapValues { .string($0) }), "configuration": .nonempty(configuration),
                "dataAccessController": dataAccessController?.value,
                "communicationController": communicationController?.value,
            ])
    }
}

extension DataAccessControllerDefinition {
    fileprivate var value: ManifestValue {
        .dictionary(
            of: ["className": className, "version": version?.description, "namespace": namespace, "was": was],
            ["configuration": .nonempty(configuration)])
    }
}

extension CommunicationControllerDefinition {
    fileprivate var value: ManifestValue {
        .dictionary(
            of: ["className": className, "version": version?.description, "namespace": namespace],
            [
                "configuration": .nonempty(configuration),
                "services": services.isEmpty ? Optional.none : .array(services.map(\.value)),
            ])
    }
}

extension ServiceDefinition {
    fileprivate var value: ManifestValue {
        .dictionary(
            of: [
                "className": className, "version": version?.description, "namespace": namespace,
                "propertyName": propertyName,
            ],
            ["networkServiceConfiguration": .nonempty(networkServiceConfiguration)])
    }
}

extension ManifestValue {
    /// Returns a dictionary of the strings and values that are not `nil`.
    fileprivate static func dictionary(of texts: [String: String?], _ values: [String: ManifestValue?] = [:])
        -> ManifestValue
    {
        var members = values.compactMapValues(\.self)
        for case (let key, let text?) in texts { members[key] = .string(text) }
        return .dictionary(members)
    }

    fileprivate static func nonempty(_ members: [String: ManifestValue]) -> ManifestValue? {
        members.isEmpty ? Optional.none : .dictionary(members)
    }
}
