/// A command that is entered with a single key.
package enum DevKey: Character, Sendable, CaseIterable {
    case rebuild = "r", rollBack = "b", generations = "g", restart = "s", help = "h", quit = "q"

    var text: String {
        switch self {
        case .rebuild: "rebuild"
        case .rollBack: "roll back"
        case .generations: "generations"
        case .restart: "restart"
        case .help: "help"
        case .quit: "quit"
        }
    }

    init?(typed: Character) {
        if typed == "?" { self = .help } else { self.init(rawValue: Character(typed.lowercased())) }
    }

    /// A list of all keys and their commands for the user.
    package static let legend = allCases.filter { $0 != .help }.map { "\($0.rawValue) \($0.text)" }.joined(
        separator: ", ")
}
