import Backplane
import BackplaneHost

/// A manifest with fakes in some of its places.
struct Overlay {
    private(set) var manifest: Manifest
    /// What the fakes are registered as.
    private(set) var components: [Component] = []

    struct Component: Sendable {
        var fake: Fake
        var role: Role
        var className: String
    }

    /// - Throws: `manager.unknown`, `wire.mismatch` for two fakes in one place, `manifest.missing-key` for a service without a
    ///   communication controller: what can only be a mistake in the test.
    init(_ manifest: Manifest, _ fakes: [Place: Fake]) throws(BackplaneError) {
        self.manifest = manifest
        var filled: [Place: Fake] = [:]
        for (place, fake) in fakes {
            let place = try self.whole(place)
            guard filled.updateValue(fake, forKey: place) == nil else {
                throw BackplaneError(.wireMismatch, "two fakes are given for \(place); give one")
            }
        }
        // A manager before its collaborators, a communication controller before its services.
        for (place, fake) in filled.sorted(by: { ($0.key.rank, $0.key.description) < ($1.key.rank, $1.key.description) }) {
            try put(fake, at: place)
        }
    }

    /// The place with its manager's name.
    private func whole(_ place: Place) throws(BackplaneError) -> Place {
        switch place.role {
        case .manager, .addedManager: return place
        default: if place.owner != nil { return place }
        }
        guard manifest.managers.count == 1, let only = manifest.managers.keys.first else {
            throw BackplaneError(.unknownManager, "a fake is given for \(place), of one of \(manifest.managers.count) managers; say of which with `of:`")
        }
        return Place(role: place.role, owner: only)
    }

    private mutating func put(_ fake: Fake, at place: Place) throws(BackplaneError) {
        switch place.role {
        case .manager(let name): try putManager(fake, name)
        case .addedManager(let name): try addManager(fake, name)
        default: try putCollaborator(fake, at: place)
        }
    }

    private mutating func putCollaborator(_ fake: Fake, at place: Place) throws(BackplaneError) {
        let owner = place.owner ?? ""
        guard var definition = manifest.managers[owner] else { throw unknown(owner, place) }
        switch place.role {
        case .manager, .addedManager: break
        case .use(let label):
            let name = "\(owner).\(label)"
            definition.uses[label] = name
            manifest.managers[name] = ManagerDefinition(className: add(fake, .manager), configuration: fake.configuration)
        case .dataAccessController:
            // In a namespace of its own: another manager may share what it replaces.
            definition.dataAccessController = DataAccessControllerDefinition(className: add(fake, .dataAccessController), configuration: fake.configuration)
        case .communicationController:
            let services = (definition.communicationController?.services ?? []).filter { fake.labels.contains($0.propertyName) }
            definition.communicationController = CommunicationControllerDefinition(
                className: add(fake, .communicationController), configuration: fake.configuration, services: services)
        case .service(let property):
            guard definition.communicationController != nil else {
                throw BackplaneError(.manifestMissingKey, "a fake is given for \(place), which has no communication controller to receive it")
            }
            let service = ServiceDefinition(className: add(fake, .networkService), propertyName: property, networkServiceConfiguration: fake.configuration)
            let index = definition.communicationController?.services.firstIndex { $0.propertyName == property }
            if let index { definition.communicationController?.services[index] = service } else { definition.communicationController?.services.append(service) }
        }
        manifest.managers[owner] = definition
    }

    private mutating func putManager(_ fake: Fake, _ name: String) throws(BackplaneError) {
        let old = manifest.managers[name]
        guard old != nil || manifest.managers.values.contains(where: { $0.uses.values.contains(name) }) else { throw unknown(name, .manager(name)) }
        let className = add(fake, .manager)
        manifest.managers[name] = ManagerDefinition(
            className: className, uses: (old?.uses ?? [:]).filter { fake.labels.contains($0.key) }, configuration: fake.configuration,
            dataAccessController: fake.labels.contains(ReservedLabel.dataAccessController) ? old?.dataAccessController : nil,
            communicationController: fake.labels.contains(ReservedLabel.communicationController) ? old?.communicationController : nil)
    }

    private mutating func addManager(_ fake: Fake, _ name: String) throws(BackplaneError) {
        guard manifest.managers[name] == nil else {
            throw BackplaneError(.wireMismatch, "a fake is given for the added manager `\(name)`, and the manifest has one of that name; `.manager(\"\(name)\")` replaces it")
        }
        manifest.managers[name] = ManagerDefinition(className: add(fake, .manager), configuration: fake.configuration)
    }

    /// Gives a fake a class name that nothing else has, and the name.
    private mutating func add(_ fake: Fake, _ role: Role) -> String {
        let namesakes = components.count { $0.fake.name == fake.name }
        let className = "Fake.\(fake.name)" + (namesakes == 0 ? "" : ".\(namesakes + 1)")
        components.append(Component(fake: fake, role: role, className: className))
        return className
    }

    private func unknown(_ name: String, _ place: Place) -> BackplaneError {
        let names = manifest.managers.keys.sorted().map { "`\($0)`" }.joined(separator: ", ")
        return BackplaneError(.unknownManager, "a fake is given for \(place), and the manifest has no manager `\(name)`; it has \(names.isEmpty ? "none" : names)")
    }
}

extension Place {
    fileprivate var rank: Int {
        switch role {
        case .manager, .addedManager: 0
        case .use: 1
        case .dataAccessController: 2
        case .communicationController: 3
        case .service: 4
        }
    }
}
