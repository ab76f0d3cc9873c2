"""What several tests share: mechanisms, reference engines, mutations, comparisons."""
