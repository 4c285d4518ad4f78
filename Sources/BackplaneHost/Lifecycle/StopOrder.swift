/// The order in which components stop: each after its callers, otherwise in reverse order of their start.
enum StopOrder {
    /// Returns the components in the order in which they stop.
    ///
    /// - Parameters:
    ///   - started: The components in the order in which they started.
    ///   - providers: A function that returns the components that a component calls. In a cycle, which lookups can
    ///     cause, the last one started stops first.
    static func of<Component: Hashable>(_ started: [Component], calling providers: (Component) -> [Component])
        -> [Component]
    {
        let known = Set(started)
        var order: [Component] = [], seen: Set<Component> = []
        for start in started where seen.insert(start).inserted {
            // An explicit stack rather than recursion: a chain of managers may be as long as a manifest.
            var stack = [(component: start, next: providers(start).filter(known.contains)[...])]
            while let (component, next) = stack.last {
                if let provider = next.first {
                    stack[stack.count - 1].next = next.dropFirst()
                    if seen.insert(provider).inserted {
                        stack.append((provider, providers(provider).filter(known.contains)[...]))
                    }
                } else {
                    order.append(component)
                    stack.removeLast()
                }
            }
        }
        return order.reversed()
    }
}
