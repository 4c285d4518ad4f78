/// A builder of the views of a body: elements, arrays of views, `if`, `switch` and `for`.
@resultBuilder
public enum ViewBuilder {
    /// Returns the view of an element.
    public static func buildExpression(_ element: some ViewElement) -> [View] { [element.view] }
    /// Returns views that were built elsewhere.
    public static func buildExpression(_ views: [View]) -> [View] { views }
    /// Joins the views of a block.
    public static func buildBlock(_ parts: [View]...) -> [View] { parts.flatMap(\.self) }
    /// Returns the views of an `if` without an `else`.
    public static func buildOptional(_ views: [View]?) -> [View] { views ?? [] }
    /// Returns the views of a branch.
    public static func buildEither(first views: [View]) -> [View] { views }
    /// Returns the views of a branch.
    public static func buildEither(second views: [View]) -> [View] { views }
    /// Joins the views of a loop.
    public static func buildArray(_ parts: [[View]]) -> [View] { parts.flatMap(\.self) }
}
