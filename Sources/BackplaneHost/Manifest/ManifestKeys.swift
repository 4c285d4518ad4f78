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
