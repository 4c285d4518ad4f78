import Backplane
import BackplaneDocuments

extension ManifestReader {
    /// Reads the definition of a manager and reports its problems; the caller discards a definition with errors.
    mutating func definition(_ value: ManifestValue, at path: ManifestPath) -> ManagerDefinition? {
        guard let section = section(value, at: path) else { return nil }
        let className = requiredString("className", in: section)
        let version = versionRange(in: section)
        let uses = uses(in: section)
        let configuration = configuration(in: section)
        let dataAccessController = dataAccessController(in: section)
        let communicationController = communicationController(in: section)
        let was = string("was", in: own(section))
        let activation = choice("activation", of: Activation.allCases, in: own(section)) ?? .eager
        reportUnknownKeys(in: section, known: .manager)
        return ManagerDefinition(
            className: className ?? "", version: version, uses: uses, configuration: configuration,
            dataAccessController: dataAccessController, communicationController: communicationController,
            activation: activation, was: was)
    }

    private mutating func uses(in section: Section) -> [String: String] {
        guard let uses = dictionary("uses", in: own(section)) else { return [:] }
        var names: [String: String] = [:]
        for label in uses.values.keys.sorted() {
            if label == ReservedLabel.dataAccessController || label == ReservedLabel.communicationController {
                report(
                    .wireUnknown, "`\(label)` is not a manager; write it as a key next to `uses`", at: uses.path / label
                )
            } else {
                names[label] = requiredString(label, in: uses)
            }
        }
        return names
    }

    private mutating func dataAccessController(in section: Section) -> DataAccessControllerDefinition? {
        guard let section = layer("dataAccessController", in: section) else { return nil }
        defer { reportUnknownKeys(in: section, known: .dataAccessController) }
        return DataAccessControllerDefinition(
            className: requiredString("className", in: section) ?? "", version: versionRange(in: section),
            configuration: configuration(in: section), namespace: namespace("namespace", in: own(section)),
            was: namespace("was", in: own(section)))
    }

    /// Reads a namespace; those that begin with `@` are reserved for the host.
    private mutating func namespace(_ key: String, in section: Section) -> String? {
        guard let name = string(key, in: section) else { return nil }
        guard name.hasPrefix("@") else { return name }
        let path = section.path / key
        report(
            .manifestUnsupported,
            "`\(shown(name, at: path))` begins with `@`, which is reserved for namespaces of the host; choose "
                + "another name",
            at: path)
        return nil
    }

    private mutating func communicationController(in section: Section) -> CommunicationControllerDefinition? {
        guard let section = layer("communicationController", in: section) else { return nil }
        defer { reportUnknownKeys(in: section, known: .communicationController) }
        return CommunicationControllerDefinition(
            className: requiredString("className", in: section) ?? "", version: versionRange(in: section),
            configuration: configuration(in: section), services: services(in: section),
            namespace: namespace("namespace", in: own(section)))
    }

    private mutating func services(in section: Section) -> [ServiceDefinition] {
        var services: [ServiceDefinition] = []
        var indices: [String: Int] = [:]
        let values = array("services", in: section, most: ManifestLimits.services, left: servicesLeft) ?? []
        servicesLeft -= values.count
        for (index, value) in values.enumerated() {
            let path = section.path / "services" / index
            guard let section = self.section(value, at: path) else { continue }
            let service = ServiceDefinition(
                className: requiredString("className", in: section) ?? "", version: versionRange(in: section),
                propertyName: requiredString("propertyName", in: section) ?? "",
                networkServiceConfiguration: dictionary("networkServiceConfiguration", in: section)?.values ?? [:],
                namespace: namespace("namespace", in: own(section)))
            reportUnknownKeys(in: section, known: .service)
            services.append(service)
            guard !service.propertyName.isEmpty else { continue }
            if let first = indices[service.propertyName] {
                report(
                    .wireMismatch,
                    "`\(shown(service.propertyName, at: path / "propertyName"))` already has a service, number "
                        + "\(first); a property can have only one",
                    at: path / "propertyName")
            } else {
                indices[service.propertyName] = index
            }
        }
        return services
    }

    /// Reads the dictionary of a collaborator, which may be missing but not empty.
    private mutating func layer(_ key: String, in section: Section) -> Section? {
        guard let layer = dictionary(key, in: section) else { return nil }
        guard !layer.values.isEmpty else {
            report(
                .manifestMissingKey,
                "`\(key)` is empty; leave the key out for a manager without one, or give it a `className`",
                at: layer.path)
            return nil
        }
        return layer
    }

    private mutating func configuration(in section: Section) -> [String: ManifestValue] {
        dictionary("configuration", in: own(section))?.values ?? [:]
    }
}

/// The keys of one kind of dictionary in a manifest, in the order in which they are written.
struct ManifestKeys {
    let all: [String]
    /// The keys that exist only in the `backplane` dialect.
    let own: Set<String>

    init(_ all: [String], shared: [String] = []) {
        (self.all, own) = (all, Set(all).subtracting(shared))
    }

    func known(in dialect: ManifestDialect) -> [String] {
        dialect == .backplane ? all : all.filter { !own.contains($0) }
    }

    static let root = ManifestKeys(
        ["$schema", "manifestVersion", "plugins", "managers"] + ManifestSection.all.map(\.key) + [
            "environments", "lock",
        ])
    static let environment = ManifestKeys(["plugins", "managers"] + ManifestSection.all.map(\.key))
    static let lockedClass = ManifestKeys(["plugin", "version"])
    static let plugin = ManifestKeys(["library", "version", "sha256", "resources"])
    static let manager = ManifestKeys(
        [
            "className", "was", "version", "activation", "uses", "configuration", "dataAccessController",
            "communicationController",
        ],
        shared: ["className", "dataAccessController", "communicationController"])
    static let dataAccessController = ManifestKeys(
        ["className", "version", "namespace", "was", "configuration"], shared: ["className"])
    static let communicationController = ManifestKeys(
        ["className", "version", "namespace", "configuration", "services"], shared: ["className", "services"])
    static let service = ManifestKeys(
        ["className", "version", "namespace", "propertyName", "networkServiceConfiguration"],
        shared: ["className", "propertyName", "networkServiceConfiguration"])
}
