// Functions that no program can call: their messages say what to write instead. docs/compiler-messages.md has the list.

extension MethodTable where C: Component {
    /// Refuses a method of another kind.
    @available(*, unavailable, message: "the contract declares this method as an AsyncMethod: write `table.async`")
    @_documentation(visibility: internal)
    public mutating func sync<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, AsyncMethod<Input, Output>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output
    ) {}

    /// Refuses a method of another kind.
    @available(
        *, unavailable,
        message: "the contract declares this method as a SyncMethod: write `table.sync`, with a body that does not wait"
    )
    @_documentation(visibility: internal)
    public mutating func async<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, SyncMethod<Input, Output>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output
    ) {}

    /// Refuses a method of another kind.
    @available(
        *, unavailable,
        message: "the contract declares this method as a StreamMethod: write `table.stream`, with a body that sends"
    )
    @_documentation(visibility: internal)
    public mutating func async<Input: Codable & Sendable, Element: Codable & Sendable, Output>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output
    ) {}

    /// Refuses a method of another kind.
    @available(
        *, unavailable,
        message: "the contract declares this method as a StreamMethod: write `table.stream`, with a body that sends"
    )
    @_documentation(visibility: internal)
    public mutating func async<Input: Codable & Sendable, Element: Codable & Sendable>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (C, Input, StreamSender<Element>, Call) async throws -> Void
    ) {}

    /// Refuses a method of another kind.
    @available(
        *, unavailable,
        message: "the contract declares this method as a StreamMethod: write `table.stream`, with a body that sends"
    )
    @_documentation(visibility: internal)
    public mutating func sync<Input: Codable & Sendable, Element: Codable & Sendable, Output>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output
    ) {}

    /// Refuses a method of another kind.
    @available(
        *, unavailable,
        message: "the contract declares this method as a StreamMethod: write `table.stream`, with a body that sends"
    )
    @_documentation(visibility: internal)
    public mutating func sync<Input: Codable & Sendable, Element: Codable & Sendable>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (C, Input, StreamSender<Element>, Call) async throws -> Void
    ) {}

    /// Refuses a method of another kind.
    @available(
        *, unavailable,
        message: "the contract declares this method as an AsyncMethod: write `table.async`, with a body that returns"
    )
    @_documentation(visibility: internal)
    public mutating func stream<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, AsyncMethod<Input, Output>>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (C, Input, StreamSender<Output>, Call) async throws -> Void
    ) {}

    /// Refuses a method of another kind.
    @available(
        *, unavailable,
        message: "the contract declares this method as a SyncMethod: write `table.sync`, with a body that returns"
    )
    @_documentation(visibility: internal)
    public mutating func stream<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, SyncMethod<Input, Output>>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (C, Input, StreamSender<Output>, Call) async throws -> Void
    ) {}
}

// Only `NoContract` has undeclared members. The second function of each name is for bodies from which the compiler
// cannot infer the input's type. None demands `Provides == NoContract`: the compiler would then say that of a method
// with a misspelt name, instead of naming it.
extension MethodTable where C: Component {
    /// Refuses a method of a component without a contract.
    @available(
        *, unavailable,
        message: "this component provides no contract: add `typealias Provides = …`, the contract with this method"
    )
    @_documentation(visibility: internal)
    public mutating func async<Input, Output>(
        _ member: KeyPath<C.Provides, UndeclaredMember>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output
    ) {}

    /// Refuses a method of a component without a contract.
    @available(
        *, unavailable,
        message: "this component provides no contract: add `typealias Provides = …`, the contract with this method"
    )
    @_documentation(visibility: internal)
    public mutating func async<Output>(
        _ member: KeyPath<C.Provides, UndeclaredMember>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, UndeclaredMember, Call) async throws -> Output
    ) {}

    /// Refuses a method of a component without a contract.
    @available(
        *, unavailable,
        message: "this component provides no contract: add `typealias Provides = …`, the contract with this method"
    )
    @_documentation(visibility: internal)
    public mutating func sync<Input, Output>(
        _ member: KeyPath<C.Provides, UndeclaredMember>,
        _ body: @escaping @Sendable (C, Input, Call) throws -> Output
    ) {}

    /// Refuses a method of a component without a contract.
    @available(
        *, unavailable,
        message: "this component provides no contract: add `typealias Provides = …`, the contract with this method"
    )
    @_documentation(visibility: internal)
    public mutating func sync<Output>(
        _ member: KeyPath<C.Provides, UndeclaredMember>,
        _ body: @escaping @Sendable (C, UndeclaredMember, Call) throws -> Output
    ) {}

    /// Refuses a method of a component without a contract.
    @available(
        *, unavailable,
        message: "this component provides no contract: add `typealias Provides = …`, the contract with this method"
    )
    @_documentation(visibility: internal)
    public mutating func stream<Input, Element>(
        _ member: KeyPath<C.Provides, UndeclaredMember>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (C, Input, StreamSender<Element>, Call) async throws -> Void
    ) {}
}
