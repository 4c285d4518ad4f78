/// An error in the arguments of a command, such as a missing or a superfluous one.
struct Misuse: Error, CustomStringConvertible {
    let description: String
}
