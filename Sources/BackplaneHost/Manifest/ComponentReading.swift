import Backplane
import BackplaneDocuments

extension ManifestReader {
    /// Reads the definition of a manager and reports its problems; the caller discards a definition with errors.
    mutating func manager(_ value: ManifestValue, at path: ManifestPath) -> ManagerDefinition? {
        guard let whole = section(value, at: path) else { return nil }
        let section = known(.manager, of: whole)
        var manager = ManagerDefinition(
            className: isNemoLogic
                ? requiredString("className", in: section) : string("className", in: section),
            version: versionRange(in: section),
            uses: uses(in: section), configuration: dictionary("configuration", in: section)?.values ?? [:],
            dataAccessController: controller("dataAccessController", .dataAccessController, in: section),
            communicationController: controller("communicationController", .communicationController, in: section))
        manager.was = string("was", in: section)
        manager.activation = choice("activation", of: Activation.allCases, in: section) ?? .eager
        reportUnknownKeys(in: whole, known: .manager)
        return manager
    }

    private mutating func uses(in section: Section) -> [String: String] {
        names("uses", in: section) { reader, label, path in
            guard [ReservedLabel.dataAccessController, ReservedLabel.communicationController].contains(label) else {
                return true
            }
            reader.report(.wireUnknown, "`\(label)` is not a manager; write it as a key next to `uses`", at: path)
            return false
        }
    }

    /// Reads the dictionary of a controller, which may be missing but not empty.
    private mutating func controller(_ key: String, _ shape: ManifestShape, in section: Section)
        -> ComponentDefinition?
    {
        guard let controller = dictionary(key, in: section) else { return nil }
        guard !controller.values.isEmpty else {
            report(
                .manifestMissingKey,
                "`\(key)` is empty; leave the key out for a manager without one, or give it a `className`",
                at: controller.path)
            return nil
        }
        return component(controller, shape)
    }

    /// Reads the keys of a collaborator's definition that its shape has.
    private mutating func component(_ whole: Section, _ shape: ManifestShape) -> ComponentDefinition {
        let section = known(shape, of: whole)
        defer { reportUnknownKeys(in: whole, known: shape) }
        return ComponentDefinition(
            className: requiredString("className", in: section) ?? "", version: versionRange(in: section),
            propertyName: shape === ManifestShape.service ? requiredString("propertyName", in: section) : nil,
            configuration: configuration(in: section),
            services: services(in: section), namespace: namespace("namespace", in: section),
            was: namespace("was", in: section))
    }

    /// Reads a configuration, which a service can have under Nemo Logic's key instead.
    private mutating func configuration(in section: Section) -> [String: ManifestValue] {
        let nemoKey = "networkServiceConfiguration"
        guard section.values[nemoKey] != nil else { return dictionary("configuration", in: section)?.values ?? [:] }
        guard section.values["configuration"] == nil else {
            report(
                .manifestWrongType, "`configuration` and `\(nemoKey)` are the same; write only `configuration`",
                at: section.path)
            return [:]
        }
        nemoServices.insert(section.path)
        return dictionary(nemoKey, in: section)?.values ?? [:]
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

    private mutating func services(in section: Section) -> [ComponentDefinition] {
        var services: [ComponentDefinition] = []
        var indices: [String: Int] = [:]
        let values = array("services", in: section, most: ManifestLimits.services, left: servicesLeft) ?? []
        servicesLeft -= values.count
        for (index, value) in values.enumerated() {
            let path = section.path / "services" / index
            guard let section = self.section(value, at: path) else { continue }
            let service = component(section, .service)
            services.append(service)
            guard let property = service.propertyName else { continue }
            if let first = indices[property] {
                report(
                    .wireMismatch,
                    "`\(shown(property, at: path / "propertyName"))` already has a service, number \(first); a property "
                        + "can have only one",
                    at: path / "propertyName")
            } else {
                indices[property] = index
            }
        }
        return services
    }
}
