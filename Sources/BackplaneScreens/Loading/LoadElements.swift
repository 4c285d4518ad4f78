/// Views that are covered by a loader while a load runs, and by the reasons of failures afterwards.
///
/// Below the reasons, "Try again" repeats the failed loads, and "Cancel" removes the overlay. The screen passes both
/// events to ``Loads/handle(_:onCancel:)``. Cancelled and redundant loads are not shown. While nothing covers the
/// views, the column in front is empty, so that the views keep their keys.
public struct LoadOverlay: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a cover for views, which shows a loader or the reasons of failures.
    ///
    /// - Parameters:
    ///   - loads: The loads of the screen.
    ///   - key: The key of the loads that the overlay shows; `nil` for all loads.
    ///   - keepOnError: Whether the overlay stays after a failure and shows the reason. Otherwise the screen shows it.
    ///   - covered: A function that returns the views that the overlay covers.
    public init(
        _ loads: Loads, _ key: String? = nil, keepOnError: Bool = true, @ViewBuilder over covered: () -> [View]
    ) {
        let tracker = loads.tracker
        let overlay = Overlay {
            if tracker.isLoading(key) {
                ProgressBar("Loading", fraction: tracker.progress(of: key)).id("loading")
            } else if keepOnError {
                Self.failures(tracker.failures(of: key), key)
            }
        } over: {
            covered()
        }
        view = overlay.id("load" + (key.map { ":\($0)" } ?? ""))
    }

    @ViewBuilder private static func failures(_ failures: [LoadFailure], _ key: String?) -> [View] {
        for failure in failures { Text(failure.reason).style(.critical).id("failure:\(failure.key)") }
        if !failures.isEmpty {
            Row {
                Button("Try again", id: LoadAction.retry(key).id).style(.strong)
                Button("Cancel", id: LoadAction.cancel(key).id)
            }.id("actions")
        }
    }
}

/// A button that is busy and disabled, or changed in another way, while any of its loads runs.
///
/// If the button is pressed again before it is redrawn, no second load starts (``Loads/start(_:replacing:_:)``).
///
/// ```swift
/// LoadButton("Borrow", id: "borrow", loads)       // handle: loads.start("borrow") { try await … }
/// LoadButton("Save", id: "save", loads, while: [.loader, .custom { $0.text = "Saving" }])
/// ```
///
/// A button has no size that a change could set: the program that draws it makes room for its label.
public struct LoadButton: ViewElement {
    /// A change of a button while one of its loads runs.
    public struct State: Sendable {
        fileprivate let change: @Sendable (inout View) -> Void

        /// The button shows that its work continues, and cannot be pressed: ``View/isBusy``.
        public static let loader = State { $0.isBusy = true }
        /// The button cannot be pressed: ``View/isDisabled``.
        public static let disabled = State { $0.isDisabled = true }
        /// The button has no label. A browser always hides the label of a busy button, and keeps the button's size.
        public static let contentHidden = State { $0.text = "" }

        /// Returns a change that a function makes, such as to another label or style; keep the id.
        public static func custom(_ change: @escaping @Sendable (_ button: inout View) -> Void) -> State {
            State(change: change)
        }
    }
    /// The element as data.
    public let view: View

    /// Creates a control with a label, which changes while one of its loads runs.
    ///
    /// - Parameters:
    ///   - text: The label.
    ///   - id: The name in events.
    ///   - loads: The loads of the screen.
    ///   - keys: The keys of the button's loads. Default: its name.
    ///   - states: The changes, in order.
    public init(
        _ text: String, id: String, _ loads: Loads, _ keys: String..., while states: [State] = [.loader, .disabled]
    ) {
        let tracker = loads.tracker, isLoading = (keys.isEmpty ? [id] : keys).contains { tracker.isLoading($0) }
        var button = Button(text, id: id).view
        if isLoading { for state in states { state.change(&button) } }
        view = button
    }
}

/// An image whose address is loaded first, with a placeholder until then, and the reason if the load fails.
///
/// ```swift
/// let cover: LoadState<String> = loads.lazily("cover of \(book.id)") { try await library.cover(book.id, agent.call) }
/// RemoteImage(cover, description: book.title)
/// ```
///
/// A row that is reused for another item never shows the former image, not even while the new one is loaded.
public struct RemoteImage: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a picture for the state of its address: a placeholder, the picture, or the reason of a failure.
    ///
    /// - Parameters:
    ///   - address: The state of an address such as `https://…`, or of the absolute path of a file.
    ///   - description: The text for people who cannot see the image, also shown until the image has arrived.
    public init(_ address: LoadState<String>, description: String) {
        view = Image(address.value ?? "", description: description)
            .busy(address.value == nil && address.isLoading).problem(address.failure?.reason)
    }

    /// Creates an image with a known address, which the host fetches.
    public init(_ address: String, description: String) { self.init(.loaded(address), description: description) }
}

/// The action of a button in a ``LoadOverlay``, encoded in the button's id.
enum LoadAction: Equatable {
    case retry(String?)
    case cancel(String?)

    var id: String {
        let (name, key) =
            switch self {
            case .retry(let key): (Self.retrying, key)
            case .cancel(let key): (Self.cancelling, key)
            }
        return key.map { "\(name):\($0)" } ?? name
    }

    init?(_ id: String) {
        let parts = id.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let key = parts.count > 1 ? parts[1] : nil
        switch parts[0] {
        case Self.retrying: self = .retry(key)
        case Self.cancelling: self = .cancel(key)
        default: return nil
        }
    }

    private static let retrying = "load.retry"
    private static let cancelling = "load.cancel"
}
