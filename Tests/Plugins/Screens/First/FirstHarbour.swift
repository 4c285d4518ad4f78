public import Backplane
import BackplaneScreens
import ScreensParts

/// The first of two editions of one plugin with screens.
public struct FirstHarbour: Plugin {
    public static let id = "org.backplane.harbour"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) { registrar.add(Harbour.self) }
}

final class Harbour: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) { FirstEdition.addScreens(to: &table) }
}

private enum FirstEdition: HarbourEdition {
    static let word = "first"

    static func admit(_ ship: String) {}
}
