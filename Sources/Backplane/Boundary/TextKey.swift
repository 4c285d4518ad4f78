/// A coding key for any key of a JSON object.
///
/// All hand-written coding uses this one type: an enum of keys would add six conformances to every plugin.
package struct TextKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ text: String) { stringValue = text }
    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}
