/// Stub until the real one is merged.
package struct ContractLayout {
    package let text: String
    package init<C: Contract>(of _: C.Type) { text = Members<C>().all.map { "\($0.name) \($0.type)" }.joined(separator: "\n") }
    package static func difference(consumer: String, provider: String) -> String? { consumer == provider ? nil : "layouts differ" }
}
