import Testing

@testable import BackplaneBench

@Suite struct SampleTests {
    @Test(
        arguments: [
            ([7], 7, 0), ([1, 3], 2, 0.5), ([3, 1, 2], 2, 0.5), ([4, 1, 3, 2], 2.5, 0.75), ([5, 4, 3, 2, 1], 3, 1),
            ([1, 1, 1, 1, 1_000_000], 1, 0),
            ([9, 1, 8, 2, 7, 3, 6, 4, 5], 5, 2),
        ] as [([Double], Double, Double)])
    func `the median is the middle, and the spread half the distance of the quartiles`(
        figures: [Double], median: Double, spread: Double
    ) {
        let sample = Sample(figures)
        #expect(sample.median == median)
        #expect(sample.spread == spread)
    }

    @Test func `of a hundred and one figures the hundredth is the p99`() {
        let sample = Sample((0...100).shuffled().map(Double.init))
        #expect(sample.p99 == 99 && sample.highest == 100)
    }
}
