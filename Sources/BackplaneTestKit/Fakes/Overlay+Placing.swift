import Backplane
import BackplaneDocuments
import BackplaneHost

extension Overlay {
    /// Puts a fake into a place with a known manager.
    mutating func put(_ fake: Fake, at place: Fake.Place) throws(BackplaneError) {
        switch place.position {
        case .manager(let name): try putManager(fake, name)
        case .addedManager(let name): try addManager(fake, name)
        default: try putCollaborator(fake, at: place)
        }
    }

    private mutating func putManager(_ fake: Fake, _ name: String) throws(BackplaneError) {
        let old = manifest.managers[name]
        let isUsed = manifest.managers.values.contains { $0.uses.values.contains(name) }
        guard old != nil || isUsed else { throw unknown(name, .manager(name)) }
        unlock(name)
        manifest.managers[name] = ManagerDefinition(
            className: add(fake, .manager), uses: (old?.uses ?? [:]).filter { fake.labels.contains($0.key) },
            configuration: fake.configuration,
            dataAccessController: fake.labels.contains(ReservedLabel.dataAccessController)
                ? old?.dataAccessController : nil,
            communicationController: fake.labels.contains(ReservedLabel.communicationController)
                ? old?.communicationController : nil,
            activation: old?.activation ?? .eager)
    }

    private mutating func addManager(_ fake: Fake, _ name: String) throws(BackplaneError) {
        guard manifest.managers[name] == nil else {
            let words =
                "a fake replaces the added manager `\(name)`, but the manifest already has a manager of that name"
            throw BackplaneError(.wireMismatch, "\(words); `.manager(\"\(name)\")` replaces it")
        }
        manifest.managers[name] = ManagerDefinition(className: add(fake, .manager), configuration: fake.configuration)
    }

    private mutating func putCollaborator(_ fake: Fake, at place: Fake.Place) throws(BackplaneError) {
        let owner = place.owner ?? ""
        guard var definition = manifest.managers[owner] else { throw unknown(owner, place) }
        switch place.position {
        case .manager, .addedManager: break
        case .use(let label):
            let name = "\(owner).\(label)"
            definition.uses[label] = name
            manifest.managers[name] = ManagerDefinition(
                className: add(fake, .manager), configuration: fake.configuration)
        case .dataAccessController:
            unlock(owner, ReservedLabel.dataAccessController)
            // The fake gets its own namespace, because another manager may share the replaced component.
            definition.dataAccessController = ComponentDefinition(
                className: add(fake, .dataAccessController), configuration: fake.configuration)
        case .communicationController:
            unlock(owner, ReservedLabel.communicationController)
            let services = definition.communicationController?.services ?? []
            definition.communicationController = ComponentDefinition(
                className: add(fake, .communicationController), configuration: fake.configuration,
                services: services.filter { fake.labels.contains($0.propertyName ?? "") })
        case .service(let property):
            guard var controller = definition.communicationController else {
                throw BackplaneError(
                    .manifestMissingKey,
                    "a fake replaces \(place), which has no communication controller to receive it")
            }
            unlock(owner, ReservedLabel.communicationController, property)
            let service = ComponentDefinition(
                className: add(fake, .networkService), propertyName: property,
                configuration: fake.configuration)
            let index = controller.services.firstIndex { $0.propertyName == property }
            if let index { controller.services[index] = service } else { controller.services.append(service) }
            definition.communicationController = controller
        }
        manifest.managers[owner] = definition
    }

    /// Removes the manifest's lock for the replaced component and everything that belongs to it.
    private mutating func unlock(_ names: String...) {
        let key = names.map(\.pointerStep).joined(separator: "/")
        manifest.lock = manifest.lock?.filter { $0.key != key && !$0.key.hasPrefix(key + "/") }
    }

    private func unknown(_ name: String, _ place: Fake.Place) -> BackplaneError {
        let names = manifest.managers.keys.sorted().map { "`\($0)`" }.joined(separator: ", ")
        let words = "a fake replaces \(place), but the manifest has no manager `\(name)`"
        return BackplaneError(.unknownManager, "\(words); it has \(names.isEmpty ? "none" : names)")
    }
}
