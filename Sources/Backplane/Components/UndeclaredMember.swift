/// The type of a member that a component has not declared, for the compiler's messages.
///
/// Members and calls of it have a type, so that the compiler reports what is missing and not what follows from that.
/// No value of it exists at run time.
@dynamicMemberLookup
public struct UndeclaredMember: Sendable {
    /// Another undeclared member.
    public subscript(dynamicMember name: String) -> UndeclaredMember { self }

    /// Stands for a synchronous call whose result is not used as another type.
    @discardableResult
    public func callAsFunction<each Argument>(_ arguments: repeat each Argument) throws -> UndeclaredMember { self }

    /// Stands for a call whose result is not used as another type.
    @discardableResult
    public func callAsFunction<each Argument>(_ arguments: repeat each Argument) async throws -> UndeclaredMember {
        self
    }

    /// Stands for a synchronous call.
    @_disfavoredOverload
    public func callAsFunction<each Argument, Output>(_ arguments: repeat each Argument) throws -> Output {
        throw BackplaneError(.wireUnknown, "the component has not declared this member")
    }

    /// Stands for a call.
    @_disfavoredOverload
    public func callAsFunction<each Argument, Output>(_ arguments: repeat each Argument) async throws -> Output {
        throw BackplaneError(.wireUnknown, "the component has not declared this member")
    }
}
