public import Backplane

/// The layers that Nemo Logic's own tests are about, a manager that fails in every way a manager may, and a clock.
public struct ChallengePlugin: Plugin {
    public static let id = "org.backplane.tests.challenge"
    public static let version: Version = "1.4.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(ChallengeManager.self)
        registrar.add(ChallengeDataAccess.self)
        registrar.add(ChallengeCommunication.self)
        registrar.add(ChallengeService.self)
        registrar.add(TrialManager.self)
        registrar.add(RelayManager.self)
        registrar.add(PeerManager.self)
        registrar.add(Timepiece.self)
    }
}
