/// The type of a member that a component has not declared, used for the compiler's messages.
///
/// Members and calls of it have a type, so that the compiler reports the missing member and no consequential errors. No
/// value of it exists at run time.
@dynamicMemberLookup
public struct UndeclaredMember: Sendable {
    /// Another undeclared member.
    public subscript(dynamicMember name: String) -> UndeclaredMember { self }

    /// Represents a synchronous call whose result is not used as another type.
    @discardableResult
    public func callAsFunction<each Argument>(_ arguments: repeat each Argument) throws -> UndeclaredMember { self }

    /// Represents a call whose result is not used as another type.
    @discardableResult
    public func callAsFunction<each Argument>(_ arguments: repeat each Argument) async throws -> UndeclaredMember {
        self
    }

    /// Represents a synchronous call.
    @_disfavoredOverload
    public func callAsFunction<each Argument, Output>(_ arguments: repeat each Argument) throws -> Output {
        throw BackplaneError(.wireUnknown, "the component has not declared this member")
    }

    /// Represents a call.
    @_disfavoredOverload
    public func callAsFunction<each Argument, Output>(_ arguments: repeat each Argument) async throws -> Output {
        throw BackplaneError(.wireUnknown, "the component has not declared this member")
    }
}
