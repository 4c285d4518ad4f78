public import Backplane

// Calls through wires.
extension GraphBuilder {
    /// Adds a node that calls a method of a wire or a manager with a given value.
    ///
    /// ```swift
    /// let found = graph.call("search", wires.books.search, "whale", call)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - method: The method, taken from a `Wire` or a `Remote`.
    ///   - input: The method's argument.
    ///   - call: The call being served, or a new one; its deadline applies.
    ///   - options: The priority, the time limit and the retry policy.
    public mutating func call<Argument, Output, Frame>(
        _ name: String, _ method: BoundAsync<Argument, Output, Frame>, _ input: Argument, _ call: Call,
        options: NodeOptions? = nil
    ) -> GraphNode<Output> {
        add(name, options: options) { try await method(input, call) }
    }

    /// Adds a node that calls a method of a wire or a manager with the value that it receives.
    ///
    /// ```swift
    /// let stored = graph.call("store", wires.dataAccessController.store, with: books, call)
    /// ```
    public mutating func call<Input: GraphInput, Output, Frame>(
        _ name: String, _ method: BoundAsync<Input.Value, Output, Frame>, with input: Input, _ call: Call,
        options: NodeOptions? = nil
    ) -> GraphNode<Output> {
        add(name, after: input, options: options) { value in try await method(value, call) }
    }

    /// Adds a node that calls a synchronous method of a wire or a manager with a given value.
    public mutating func call<Argument, Output, Frame>(
        _ name: String, _ method: BoundSync<Argument, Output, Frame>, _ input: Argument, _ call: Call,
        options: NodeOptions? = nil
    ) -> GraphNode<Output> {
        add(name, options: options) { try method(input, call) }
    }

    /// Adds a node that calls a synchronous method of a wire or a manager with the value that it receives.
    public mutating func call<Input: GraphInput, Output, Frame>(
        _ name: String, _ method: BoundSync<Input.Value, Output, Frame>, with input: Input, _ call: Call,
        options: NodeOptions? = nil
    ) -> GraphNode<Output> {
        add(name, after: input, options: options) { value in try method(value, call) }
    }
}
