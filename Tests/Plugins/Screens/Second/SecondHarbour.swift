public import Backplane
import BackplaneScreens
import ScreensParts

/// The second of two editions of one plugin with screens.
public struct SecondHarbour: Plugin {
    public static let id = "org.backplane.harbour"
    public static let version: Version = "2.0.0"

    public static func register(in registrar: inout Registrar) { registrar.add(Harbour.self) }
}

final class Harbour: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) { SecondEdition.addScreens(to: &table) }
}

private enum SecondEdition: HarbourEdition {
    static let word = "second"

    static func admit(_ ship: String) throws {
        // A swap from the first edition must not succeed while this page is open.
        if ship == "wreck" { throw HarbourProblem(message: "the second edition does not show wrecks") }
    }
}
