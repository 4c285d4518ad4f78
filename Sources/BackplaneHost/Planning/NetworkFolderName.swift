internal import Backplane

/// The name of the private folder of a communication controller or a network service.
package enum NetworkFolderName: Sendable, Hashable {
    /// The name in the manifest.
    case namespace(String)
    /// The location of the component in the manifest: the manager, and the label by which it is reached there.
    case place(manager: String, label: String)
}

extension Plan.Node {
    /// The name of the component's folder, if it uses the network.
    var networkFolder: NetworkFolderName? {
        guard role == .communicationController || role == .networkService else { return nil }
        if let namespace { return .namespace(namespace) }
        return place.map { .place(manager: $0.manager, label: $0.label) }
    }
}
