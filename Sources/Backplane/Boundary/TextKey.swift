/// Any key of a JSON object.
///
/// One type for all that is coded by hand here: an enum of keys would bring six conformances of its own into every plugin.
package struct TextKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ text: String) { stringValue = text }
    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}
