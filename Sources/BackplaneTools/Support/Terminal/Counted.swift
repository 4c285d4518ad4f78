/// Returns a number and its noun, in the plural unless the number is one: `1 error`, `2 errors`.
package func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
