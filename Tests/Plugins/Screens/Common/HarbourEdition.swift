package import BackplaneScreens

/// The differences between the two editions of the plugin with screens.
package protocol HarbourEdition: Sendable {
    /// The word in the heading of every screen.
    static var word: String { get }
    /// Checks whether the edition shows a ship.
    ///
    /// - Throws: An error, after which the page of the ship is not assembled.
    static func admit(_ ship: String) throws
}

extension HarbourEdition {
    /// Adds the screens of an edition.
    package static func addScreens(to table: inout ScreenTable) {
        table.add(ShipList<Self>.self)
        table.add(ShipPage<Self>.self)
        table.add(Counter<Self>.self)
        table.add(EndlessScreen.self)
        table.add(FailingScreen.self)
        table.add(RestlessScreen.self)
        table.add(MarkupScreen.self)
    }
}
