import Backplane
import BackplaneHost

/// A manifest with fakes in some of its places.
struct Overlay {
    var manifest: Manifest
    /// The components that represent the fakes.
    private(set) var components: [FakeComponent] = []

    struct FakeComponent: Sendable {
        var fake: Fake
        var role: Role
        var className: String
    }

    /// Puts fakes into a manifest.
    ///
    /// - Throws: Errors that indicate a mistake in the test: `manager.unknown`; `wire.mismatch` for two fakes in one
    ///   place; `manifest.missing-key` for a service without a communication controller.
    init(_ manifest: Manifest, _ fakes: [Fake.Place: Fake]) throws(BackplaneError) {
        self.manifest = manifest
        var filled: [Fake.Place: Fake] = [:]
        for (place, fake) in fakes {
            let place = try place.whole(in: manifest)
            guard filled.updateValue(fake, forKey: place) == nil else {
                throw BackplaneError(.wireMismatch, "two fakes replace \(place); remove one of them")
            }
        }
        // Managers precede their collaborators, and communication controllers their services.
        for (place, fake) in filled.sorted(by: { ($0.key.rank, $0.key.description) < ($1.key.rank, $1.key.description) }
        ) {
            try put(fake, at: place)
        }
    }

    /// Registers a fake under a unique class name, and returns the name.
    mutating func add(_ fake: Fake, _ role: Role) -> String {
        let namesakes = components.count { $0.fake.name == fake.name }
        let className = "Fake.\(fake.name)" + (namesakes == 0 ? "" : ".\(namesakes + 1)")
        components.append(FakeComponent(fake: fake, role: role, className: className))
        return className
    }
}

extension Fake.Place {
    /// Returns the place with its manager's name filled in.
    fileprivate func whole(in manifest: Manifest) throws(BackplaneError) -> Fake.Place {
        switch position {
        case .manager, .addedManager: return self
        default: if owner != nil { return self }
        }
        guard manifest.managers.count == 1, let only = manifest.managers.keys.first else {
            throw BackplaneError(
                .unknownManager,
                "a fake replaces \(self), but the manifest has \(manifest.managers.count) managers; choose the manager with `of:`"
            )
        }
        return Fake.Place(position: position, owner: only)
    }

    fileprivate var rank: Int {
        switch position {
        case .manager, .addedManager: 0
        case .use: 1
        case .dataAccessController: 2
        case .communicationController: 3
        case .service: 4
        }
    }
}
