/// In which order components stop: each after those that call it, and otherwise the last one that came up first.
enum StopOrder {
    /// - Parameters:
    ///   - started: in the order in which they came up.
    ///   - providers: those that one calls. Some that look each other up may form a circle: then who came up later stops first.
    static func of<Component: Hashable>(_ started: [Component], calling providers: (Component) -> [Component]) -> [Component] {
        let known = Set(started)
        var order: [Component] = [], seen: Set<Component> = []
        for start in started where seen.insert(start).inserted {
            // A stack of its own: a chain of managers may be as long as a manifest.
            var stack = [(component: start, next: providers(start).filter(known.contains)[...])]
            while let (component, next) = stack.last {
                if let provider = next.first {
                    stack[stack.count - 1].next = next.dropFirst()
                    if seen.insert(provider).inserted { stack.append((provider, providers(provider).filter(known.contains)[...])) }
                } else {
                    order.append(component)
                    stack.removeLast()
                }
            }
        }
        return order.reversed()
    }
}
