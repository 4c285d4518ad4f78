import CBackplane

/// The bodies of the methods in a component's contract, defined once per class.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.search) { manager, query, call in try await manager.search(query, call) }
///     table.sync(\.count) { manager, _, _ in manager.count() }
/// }
/// ```
///
/// A body captures nothing: it receives the component, the input and the call.
public struct MethodTable<C> {
    // `C` is always a component, but declaring that would make the runtime search every loaded image for the
    // conformance. A dictionary would make it search for `Hashable`.
    private var bodies: [(any MethodBody)?] = []

    init() {}

    @inline(never) @usableFromInline
    mutating func set(_ member: Int, _ body: any MethodBody) {
        while bodies.count <= member { bodies.append(nil) }
        bodies[member] = body
    }

    func body(of member: Int) -> (any MethodBody)? { member < bodies.count ? bodies[member] : nil }
}

extension MethodTable where C: Component {
    /// Sets the body of an ``AsyncMethod``, which starts on its caller's actor.
    ///
    /// - Parameters:
    ///   - member: The method in the contract.
    ///   - body: A function that receives the component, the input and the frame to pass on to other calls.
    @inlinable @inline(__always)
    public mutating func async<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, AsyncMethod<Input, Output>>,
        _ body: @escaping Body<Input, Output>
    ) {
        set(memberNumber(of: member), AsyncBody(of: C.self, body))
    }

    /// Sets the body of a ``SyncMethod``; the body must not block.
    ///
    /// - Parameters:
    ///   - member: The method in the contract.
    ///   - body: A function that receives the component, the input and the frame to pass on to other calls.
    @inlinable @inline(__always)
    public mutating func sync<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, SyncMethod<Input, Output>>,
        _ body: @escaping @Sendable (C, Input, Call) throws -> Output
    ) {
        set(memberNumber(of: member), SyncBody(of: C.self, body))
    }

    /// Sets the body of a ``StreamMethod``, which sends the elements and returns after the last one.
    ///
    /// The body runs in a separate task, which is cancelled when the consumer needs no further elements, and when the
    /// component is swapped or stopped. It may outlast the component's `suspend`, and must not change exported state
    /// during that time.
    ///
    /// - Parameters:
    ///   - member: The stream in the contract.
    ///   - body: A function that receives the component, the input, the sender of elements and the frame to pass on to
    ///     other calls.
    @inlinable @inline(__always)
    public mutating func stream<Input: Codable & Sendable, Element: Codable & Sendable>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>,
        _ body: @escaping Sending<Input, Element>
    ) {
        set(memberNumber(of: member), StreamBody(of: C.self, body))
    }
}

/// The kind of a method, identified by its number in descriptors; later versions may add kinds.
package struct MethodKind: Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let async = MethodKind(rawValue: UInt32(BP_ASYNC))
    package static let sync = MethodKind(rawValue: UInt32(BP_SYNC))
    package static let stream = MethodKind(rawValue: UInt32(BP_STREAM))

    /// The word for the kind in the text of a contract's layouts; `nil` if this version does not support the kind.
    package var word: String? {
        switch rawValue {
        case Self.async.rawValue: "async"
        case Self.sync.rawValue: "sync"
        case Self.stream.rawValue: "stream"
        default: nil
        }
    }

    /// The kind in a sentence, such as "asynchronous".
    package var adjective: String {
        switch rawValue {
        case Self.async.rawValue: "asynchronous"
        case Self.sync.rawValue: "synchronous"
        case Self.stream.rawValue: "a stream"
        default: "of the unknown kind \(rawValue)"
        }
    }
}

// Unavailable functions, whose messages say what to write instead. docs/reference/compiler-messages.md has the list.

extension MethodTable where C: Component {
    /// The body of an ``AsyncMethod``.
    public typealias Body<Input, Output> = nonisolated(nonsending) @Sendable (C, Input, Call) async throws -> Output
    /// The body of a ``StreamMethod``.
    public typealias Sending<Input, Element: Sendable> =
        nonisolated(nonsending) @Sendable (C, Input, StreamSender<Element>, Call) async throws -> Void

    /// Refuses a method of another kind.
    @available(*, unavailable, message: "this method is an AsyncMethod: write `table.async`")
    @_documentation(visibility: internal)
    public mutating func sync<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, AsyncMethod<Input, Output>>, _ body: @escaping Body<Input, Output>
    ) {}

    /// Refuses a method of another kind.
    @available(*, unavailable, message: "this method is a SyncMethod: write `table.sync`, whose body does not wait")
    @_documentation(visibility: internal)
    public mutating func async<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, SyncMethod<Input, Output>>, _ body: @escaping Body<Input, Output>
    ) {}

    /// Refuses a method of another kind.
    @available(*, unavailable, message: "this method is a StreamMethod: write `table.stream`, with a body that sends")
    @_documentation(visibility: internal)
    public mutating func async<Input: Codable & Sendable, Element: Codable & Sendable, Output>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>, _ body: @escaping Body<Input, Output>
    ) {}

    /// Refuses a method of another kind.
    @available(*, unavailable, message: "this method is a StreamMethod: write `table.stream`, with a body that sends")
    @_documentation(visibility: internal)
    public mutating func async<Input: Codable & Sendable, Element: Codable & Sendable>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>, _ body: @escaping Sending<Input, Element>
    ) {}

    /// Refuses a method of another kind.
    @available(*, unavailable, message: "this method is a StreamMethod: write `table.stream`, with a body that sends")
    @_documentation(visibility: internal)
    public mutating func sync<Input: Codable & Sendable, Element: Codable & Sendable, Output>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>, _ body: @escaping Body<Input, Output>
    ) {}

    /// Refuses a method of another kind.
    @available(*, unavailable, message: "this method is a StreamMethod: write `table.stream`, with a body that sends")
    @_documentation(visibility: internal)
    public mutating func sync<Input: Codable & Sendable, Element: Codable & Sendable>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>, _ body: @escaping Sending<Input, Element>
    ) {}

    /// Refuses a method of another kind.
    @available(*, unavailable, message: "this method is an AsyncMethod: write `table.async`, with a body that returns")
    @_documentation(visibility: internal)
    public mutating func stream<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, AsyncMethod<Input, Output>>, _ body: @escaping Sending<Input, Output>
    ) {}

    /// Refuses a method of another kind.
    @available(*, unavailable, message: "this method is a SyncMethod: write `table.sync`, with a body that returns")
    @_documentation(visibility: internal)
    public mutating func stream<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, SyncMethod<Input, Output>>, _ body: @escaping Sending<Input, Output>
    ) {}
}

// Only `NoContract` has undeclared members. The second function of each name is for bodies from which the compiler
// cannot infer the input's type. No function requires `Provides == NoContract`: for a misspelt method, the compiler
// would then report that requirement instead of the name.
extension MethodTable where C: Component {
    /// Refuses a method of a component without a contract.
    @available(*, unavailable, message: "this component provides no contract: add `typealias Provides = …`")
    @_documentation(visibility: internal)
    public mutating func async<Input, Output>(
        _ member: KeyPath<C.Provides, UndeclaredMember>, _ body: @escaping Body<Input, Output>
    ) {}

    /// Refuses a method of a component without a contract.
    @available(*, unavailable, message: "this component provides no contract: add `typealias Provides = …`")
    @_documentation(visibility: internal)
    public mutating func async<Output>(
        _ member: KeyPath<C.Provides, UndeclaredMember>, _ body: @escaping Body<UndeclaredMember, Output>
    ) {}

    /// Refuses a method of a component without a contract.
    @available(*, unavailable, message: "this component provides no contract: add `typealias Provides = …`")
    @_documentation(visibility: internal)
    public mutating func sync<Input, Output>(
        _ member: KeyPath<C.Provides, UndeclaredMember>, _ body: @escaping @Sendable (C, Input, Call) throws -> Output
    ) {}

    /// Refuses a method of a component without a contract.
    @available(*, unavailable, message: "this component provides no contract: add `typealias Provides = …`")
    @_documentation(visibility: internal)
    public mutating func sync<Output>(
        _ member: KeyPath<C.Provides, UndeclaredMember>,
        _ body: @escaping @Sendable (C, UndeclaredMember, Call) throws -> Output
    ) {}

    /// Refuses a method of a component without a contract.
    @available(*, unavailable, message: "this component provides no contract: add `typealias Provides = …`")
    @_documentation(visibility: internal)
    public mutating func stream<Input, Element>(
        _ member: KeyPath<C.Provides, UndeclaredMember>, _ body: @escaping Sending<Input, Element>
    ) {}
}

/// The type of a member that a component has not declared, used for the compiler's messages.
///
/// Its members and calls have a type, so that the compiler reports the missing member and no consequential errors. No
/// value of the type exists at run time.
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
