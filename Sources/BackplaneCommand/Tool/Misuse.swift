/// An error in the arguments of a command, such as a missing or an unexpected argument.
struct Misuse: Error, CustomStringConvertible {
    let description: String
}
