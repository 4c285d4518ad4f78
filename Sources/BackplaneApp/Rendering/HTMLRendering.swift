package import BackplaneScreens

/// The rendering of windows as HTML.
///
/// The element of a view has the id `12/books/7`: the number of its screen, and its ``ViewKey``. A view in a row of a
/// list, or in a cell, is within the element of the row or the cell. Pages work without script:
///
/// - Each screen is a form with the fields `token` and `screen`, and a field for each field, choice and toggle of the
///   screen, named by its id. A toggle is sent as `false`, followed by `true` if it is on.
/// - The button that is pressed is `press`, with the id of the view. `change` is the button beside a control that takes
///   effect at once, and `submit` stands for the return key. `alert` removes the alert.
///
/// A script applies ``HTMLPatch`` instead. It can keep an element whose replacement has the same tag, and only change
/// its attributes, so that transitions of the stylesheet take place.
package struct HTMLRendering: Sendable {
    /// The addresses to which pages refer, which the server determines.
    package struct Addresses: Sendable {
        /// A function that returns the address of a screen.
        package var screen: @Sendable (Destination) -> String
        /// A function that returns the address at which the server provides the image with an address.
        package var image: @Sendable (String) -> String
        /// A function that returns the address that selects a tab.
        package var tab: @Sendable (Int) -> String
        /// The address that leads from the front screen to the one below it.
        package var back: String
        /// The address to which forms are sent.
        package var form: String

        /// Creates addresses.
        package init(
            screen: @escaping @Sendable (Destination) -> String, image: @escaping @Sendable (String) -> String,
            tab: @escaping @Sendable (Int) -> String, back: String, form: String
        ) {
            (self.screen, self.image, self.tab, self.back, self.form) = (screen, image, tab, back, form)
        }
    }
    let addresses: Addresses
    /// The value of the field `token` of every form.
    let token: String

    /// Creates the rendering for a browser.
    ///
    /// - Parameters:
    ///   - addresses: The addresses to which pages refer.
    ///   - token: The value of the field `token` of every form.
    package init(_ addresses: Addresses, token: String) { (self.addresses, self.token) = (addresses, token) }

    /// Returns the screen and the key of the view whose element, field or button has an id; `nil` for any other text.
    package static func target(of id: String) -> (screen: Int, key: ViewKey)? {
        guard let slash = id.firstIndex(of: "/"), let screen = Int(id[..<slash]) else { return nil }
        return (screen, ViewKey(rawValue: String(id[id.index(after: slash)...])))
    }

    static func id(_ screen: Int, _ key: ViewKey?) -> String { key.map { "\(screen)/\($0.rawValue)" } ?? "\(screen)" }

    // MARK: Windows

    /// Returns the content of `body` for a window.
    package func content(of drawing: WindowDrawing) -> String {
        let isCovered = drawing.modal != nil || drawing.alert != nil
        var writer = HTMLWriter(capacity: 1 << 16)
        writer.markup("<header id=\"bar\"")
        if isCovered { writer.markup(" inert") }
        writer.markup("><div id=\"activity\" role=\"status\">")
        writeActivity(drawing, to: &writer)
        writer.markup("</div><div id=\"tabs\">")
        writeTabs(drawing, to: &writer)
        writer.markup("</div></header><main id=\"screen\"")
        if isCovered { writer.markup(" inert") }
        writer.markup(">")
        if let screen = drawing.screen { writeScreen(screen, to: &writer) }
        writer.markup("</main><div id=\"modal\"")
        if drawing.alert != nil { writer.markup(" inert") }
        writer.markup(">")
        writeModal(drawing, to: &writer)
        writer.markup("</div><div id=\"alert\">")
        writeAlert(drawing, to: &writer)
        writer.markup("</div>")
        return writer.string
    }

    func writeActivity(_ drawing: WindowDrawing, to writer: inout HTMLWriter) {
        if drawing.isLoading { writer.markup("<span>Loading</span>") }
    }

    func writeTabs(_ drawing: WindowDrawing, to writer: inout HTMLWriter) {
        guard !drawing.tabs.isEmpty else { return }
        writer.markup("<nav aria-label=\"Tabs\"><ul>")
        for (index, tab) in drawing.tabs.enumerated() {
            writer.markup("<li><a")
            writer.attribute(" href=", addresses.tab(index))
            if index == drawing.selected { writer.markup(" aria-current=\"page\"") }
            writer.markup(">")
            writer.text(tab.title.isEmpty ? tab.identifier : tab.title)
            writer.markup("</a></li>")
        }
        writer.markup("</ul></nav>")
    }

    func writeModal(_ drawing: WindowDrawing, to writer: inout HTMLWriter) {
        guard let modal = drawing.modal else { return }
        writer.markup("<dialog open aria-modal=\"true\"")
        writer.attribute(" aria-label=", modal.heading)
        writer.markup(">")
        writeScreen(modal, isModal: true, to: &writer)
        writer.markup("</dialog>")
    }

    func writeAlert(_ drawing: WindowDrawing, to writer: inout HTMLWriter) {
        guard let alert = drawing.alert else { return }
        writer.markup("<dialog open role=\"alertdialog\" aria-modal=\"true\" aria-labelledby=\"alert-title\"")
        writer.markup(" aria-describedby=\"alert-message\">")
        beginForm(to: &writer)
        writer.markup("<h2 id=\"alert-title\">")
        writer.text(alert.title)
        writer.markup("</h2><p id=\"alert-message\">")
        writer.text(alert.message)
        writer.markup("</p><button class=\"strong\" name=\"alert\" value=\"dismiss\" autofocus>")
        writer.markup("<span>OK</span></button></form></dialog>")
    }

    private func beginForm(to writer: inout HTMLWriter) {
        writer.markup("<form method=\"post\" novalidate")
        writer.attribute(" action=", addresses.form)
        writer.markup("><input type=\"hidden\" name=\"token\"")
        writer.attribute(" value=", token)
        writer.markup(">")
    }

    // MARK: Screens

    func writeScreen(_ screen: WindowDrawing.Shown, isModal: Bool = false, to writer: inout HTMLWriter) {
        writer.enter("\(screen.number)")
        writer.markup("<div class=\"title\"")
        writer.id(" id=", "~head")
        writer.markup(">")
        writeHead(screen, isModal: isModal, to: &writer)
        writer.markup("</div>")
        beginForm(to: &writer)
        writer.markup("<input type=\"hidden\" name=\"screen\"")
        writer.id(" value=")
        // The first button of a form is the one that the return key presses.
        writer.markup("><button name=\"submit\" value=\"\" hidden></button><div class=\"body\"")
        writer.id()
        writer.markup(">")
        HTMLViews(addresses).write(screen.body, to: &writer)
        writer.markup("</div></form>")
    }

    /// Writes the way back, which has the focus in a dialog, and the title unless the body begins with it.
    func writeHead(_ screen: WindowDrawing.Shown, isModal: Bool, to writer: inout HTMLWriter) {
        if let back = screen.wayBack(isModal: isModal) {
            writer.markup("<a class=\"back\"")
            writer.attribute(" href=", addresses.back)
            writer.markup(isModal ? " autofocus>" : ">")
            writer.text(back)
            writer.markup("</a>")
        }
        if !screen.hasOwnTitle {
            writer.markup("<h1 tabindex=\"-1\">")
            writer.text(screen.heading)
            writer.markup("</h1>")
        }
    }

    /// Returns the HTML of a view, as a patch of a page contains it.
    func html(of view: View, id: String, _ place: ViewPlace) -> String {
        var writer = HTMLWriter(path: id)
        HTMLViews(addresses).write(view, place, to: &writer)
        return writer.string
    }
}

extension WindowDrawing.Shown {
    /// The title; the identifier of a screen without one.
    package var heading: String { title.isEmpty ? identifier : title }

    /// Returns the text of the way back; `nil` for a root.
    func wayBack(isModal: Bool) -> String? {
        guard let back else { return isModal ? "Close" : nil }
        return back.isEmpty ? "Back" : back
    }

    /// A Boolean value that indicates whether the body begins with the main heading, which then replaces the title.
    var hasOwnTitle: Bool { body.first.map { $0.kind == .heading && $0.level <= 1 } ?? false }
}
