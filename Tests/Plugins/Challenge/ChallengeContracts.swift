public import Backplane

/// What a manager has around it.
public struct Surroundings: Codable, Sendable, Hashable {
    public var dataAccessController: String?
    public var communicationController: String?
    public var services: [String]

    public init(dataAccessController: String? = nil, communicationController: String? = nil, services: [String] = []) {
        (self.dataAccessController, self.communicationController, self.services) = (
            dataAccessController, communicationController, services
        )
    }
}

public struct Challenge: Contract {
    public static let version: Version = "1.0.0"
    /// Asks every collaborator what it is.
    public let surroundings = AsyncMethod<Nothing, Surroundings>()
    /// What the collaborators answered while the manager was being initialised.
    public let atStart = SyncMethod<Nothing, Surroundings>()
    public init() {}
}

public struct ChallengeStorage: Contract {
    public static let version: Version = "1.0.0"
    public let whoAreYou = SyncMethod<Nothing, String>()
    public init() {}
}

public struct ChallengeNetwork: Contract {
    public static let version: Version = "1.0.0"
    public let whoAreYou = AsyncMethod<Nothing, String>()
    public let services = AsyncMethod<Nothing, [String]>()
    public init() {}
}

public struct ChallengeEndpoint: Contract {
    public static let version: Version = "1.0.0"
    /// The `NIFServiceName` it was configured with.
    public let name = AsyncMethod<Nothing, String>()
    public init() {}
}
